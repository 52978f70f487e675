"""Batch jobs in shards: a command over many inputs, cut between records, and the parts put together again.

How a command comes by `--shard I/N`, `--jobs N` and `merge`:

1. It says what is asked for: `order.Order(command=, inputs=, request=, models=, reading=)`. `request` holds, in plain
   types, all that the bytes of a result depend on (device, threads, precision and chunk, too) and whatever its player
   needs to open the writers; `models` the sha256 of each checkpoint, by what it is for.
2. It reads its part: `tasks.sources.sources_of(inputs, part)` gives the sources of a run, of a shard those that it has
   records of; `Source.open(**options)` opens one, and gives the shard's own records alone. All inputs are opened there.
   A source's `number` is its place among all inputs of the batch. That no record could be read is for `merge` to
   raise: with a part, a run calls neither `require_some` nor its like.
3. Instead of writers it tells the spool: `shard.spool.put(value)`, values being of a few frozen dataclasses or named
   tuples whose fields are scalars, tuples, lists, mappings, arrays and such again (see `codec`), in the order in which
   the writers would be told of them. What has no bound (letters, probabilities, the bits of bases) goes through
   `shard.spool.keep(pieces, dtype)`, and the `spool.Bulk` it gives into a field. `shard.facts` takes what the player
   should know besides, `shard.sources` the sources when all is read.
4. Its player opens the writers of a single run, tells them what `batch.frames(kinds)` gives, and says what went wrong
   from `batch.sources()` as a single run does: `play(batch, out, *, force, talk) -> exit code`, named in
   `cli.merge.PLAYERS`. `batch.run(command)` is the provenance, `batch.facts` and `batch.request` what was kept. A login
   node merges, which may have no torch: what is kept and how it is told stands in a module `merge` that does without.
5. In `cli` its function is decorated with `cli.sharding.sharded`, and calls `sharding.run` before it does anything else
   (see there).

The bytes of a merged result are those of one process, but for what is different by nature: seconds, memory, host and
command stand in `run.json` and in the `run` block of JSON documents.
"""
