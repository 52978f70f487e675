"""train → evaluate: bits per base on what was kept back, or summaries by a trained extractor against references."""

training = config["training"]

RUN = training["out"]

TARGETS += [f"{RUN}.json"]


# The folder of the run is not declared as output: Snakemake would remove it before another try, and with it the
# checkpoint from which the run goes on.
rule train:
    input:
        named(training["inputs"]),
        named(training["files"]),
    output:
        f"{RUN}.json",
    log:
        f"{RUN}.log",
    params:
        inputs=shlex.join(training["inputs"]),
        run=RUN,
        again="--force" if "extract" in shlex.split(training["options"]) else "--resume",
        options=words(training["options"]),
        threads=training["threads"],
    threads: training["threads"]
    resources:
        **resources_of(training),
    shell:
        "longseq train {params.inputs} --out {params.run:q} {params.again} --threads {params.threads} --json"
        " {params.options} > {output:q} 2>> {log:q}"


if "evaluation" in config:
    evaluation = config["evaluation"]

    EVALUATION = evaluation["out"]

    TARGETS += [f"{EVALUATION}.json"]


if "evaluation" in config and "references" not in evaluation:

    rule bits:
        input:
            rules.train.output,
            named(evaluation["inputs"]),
        output:
            f"{EVALUATION}.json",
        log:
            f"{EVALUATION}.log",
        params:
            inputs=shlex.join(evaluation["inputs"]),
            model=f"{RUN}/model",
            options=words(evaluation["options"]),
            threads=training["threads"],
        threads: training["threads"]
        resources:
            **resources_of(training),
        shell:
            "longseq score {params.inputs} --model {params.model:q} --threads {params.threads} --json {params.options}"
            " > {output:q} 2> {log:q}"


if "evaluation" in config and "references" in evaluation:

    rule summaries:
        input:
            rules.train.output,
            named(evaluation["inputs"]),
        output:
            f"{EVALUATION}.summaries.json",
        log:
            f"{EVALUATION}.log",
        params:
            inputs=shlex.join(evaluation["inputs"]),
            model=f"{RUN}/model",
            options=words(evaluation["options"]),
            threads=training["threads"],
        threads: training["threads"]
        resources:
            **resources_of(training),
        shell:
            "longseq summarize {params.inputs} --kind document --extractor {params.model:q} --json"
            " --threads {params.threads} {params.options} > {output:q} 2> {log:q}"

    rule rouge:
        input:
            evaluation["references"],
            summaries=rules.summaries.output,
        output:
            json=f"{EVALUATION}.json",
            text=f"{EVALUATION}.txt",
        log:
            f"{EVALUATION}.rouge.log",
        params:
            documents=shlex.join(f"--documents={name}" for name in evaluation["inputs"]),
        resources:
            **resources_of(training),
        shell:
            "longseq evaluate {input.summaries:q} {input[0]:q} {params.documents} --out {output.json:q}"
            " > {output.text:q} 2> {log:q}"
