"""plan → shards → merge → report."""

batch = config["batch"]

SHARDS = f"{batch['out']}.of-{batch['shards']}"
"""The shards; a folder for each number of them, so that those of another cut never lie beside these."""
REPORT = f"{batch['out']}.batch.txt"
LOGS = f"{batch['out']}.logs"

TARGETS += [batch["out"], REPORT]


def result():
    """What the merge writes: vectors and scored variants are one file, everything else is a folder."""
    variants = any(word.split("=")[0] == "--reference" for word in shlex.split(batch["options"]))
    return batch["out"] if batch["command"] == "embed" or variants else directory(batch["out"])


def asked():
    """What says which records there are: the plan and the shards have to be told the same."""
    return f"{shlex.join(batch['inputs'])} {words(batch['reading'])}"


rule plan:
    input:
        named(batch["inputs"]),
    output:
        f"{SHARDS}/plan.json",
    log:
        f"{LOGS}/plan.log",
    params:
        asked=asked(),
        shards=batch["shards"],
        folder=lambda wildcards, output: Path(output[0]).parent,
    resources:
        **resources_of(batch),
    shell:
        "longseq plan {params.asked} --shards {params.shards} --out {params.folder:q} > {log:q} 2>&1"


# A shard in which some records failed (3) is finished: the merge tells of them. The threads are the configuration's, not
# what is free (`{threads}`), since another number of them may change the last bits.
rule shard:
    input:
        named(batch["inputs"]),
        named(batch["files"]),
        plan=f"{SHARDS}/plan.json",
    output:
        directory(f"{SHARDS}/{{part}}-of-{batch['shards']}"),
    log:
        f"{LOGS}/{{part}}-of-{batch['shards']}.log",
    wildcard_constraints:
        part=r"\d+",
    params:
        command=batch["command"],
        asked=asked(),
        options=words(batch["options"]),
        shards=batch["shards"],
        folder=lambda wildcards, output: Path(output[0]).parent,
        threads=batch["threads"],
    threads: batch["threads"]
    resources:
        **resources_of(batch),
    shell:
        "longseq {params.command} {params.asked} --out {params.folder:q}"
        " --shard {wildcards.part}/{params.shards} --threads {params.threads} {params.options}"
        " >> {log:q} 2>&1 || [ $? -eq 3 ]"


rule merge:
    input:
        expand(rules.shard.output, part=range(1, batch["shards"] + 1)),
    output:
        result(),
    log:
        f"{LOGS}/merge.log",
    params:
        fine=3 if batch["accept_failed_records"] else 0,
    resources:
        **resources_of(batch),
    shell:
        "longseq merge {input:q} --out {output:q} > {log:q} 2>&1 || [ $? -eq {params.fine} ]"


rule report:
    localrule: True
    input:
        rules.merge.output,
    output:
        REPORT,
    log:
        f"{LOGS}/report.log",
    params:
        shards=SHARDS,
    shell:
        "longseq info {params.shards:q} > {output:q} 2> {log:q}"
