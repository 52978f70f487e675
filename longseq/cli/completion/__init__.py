"""`longseq completion SHELL`, and what a shell that sourced it asks when Tab is pressed."""

from __future__ import annotations

import click

from longseq.cli.completion.scripts import SCRIPTS
from longseq.cli.options import talking
from longseq.cli.talk import Talk


@click.command()
@click.argument("shell", type=click.Choice(list(SCRIPTS)))
@talking
def command(shell: str, talk: Talk) -> None:
    """A script that lets Tab complete commands, options, models, settings and files.

    \b
    bash:  add  eval "$(longseq completion bash)"  to ~/.bashrc
    zsh:   add  eval "$(longseq completion zsh)"   to ~/.zshrc
    fish:  run  longseq completion fish > ~/.config/fish/completions/longseq.fish

    It takes effect in the next shell. The scripts ask `longseq` itself at each Tab, so that what they know is as old as
    the installed version.
    """
    click.echo(SCRIPTS[shell], nl=False)
