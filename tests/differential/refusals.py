"""Steps that NumPy and einops are likely to refuse: good ones spoiled. Whether one is still good is for the oracles."""
CHARACTERS = " ()abch123->,._"


def spoil_text(rng, text):
    at = rng.randint(0, len(text))
    kind = rng.random()
    if kind < 0.35:
        return text[:at] + rng.choice(CHARACTERS) + text[at:]
    if kind < 0.7:
        return text[:at] + text[at + 1:]
    if kind < 0.85:
        return text[:at] + rng.choice(CHARACTERS) + text[at + 1:]
    words = text.split(" ")
    words[rng.randrange(len(words))] = rng.choice(words)
    return " ".join(words)


def spoil_lengths(rng, step):
    names = list(step.lengths)
    if names and rng.random() < 0.4:
        step.lengths[rng.choice(names)] = rng.choice([0, -1, 1, 2, 3, 5, 7, 1 << 40])
    elif names and rng.random() < 0.5:
        del step.lengths[rng.choice(names)]
    else:
        step.lengths[rng.choice(["a", "b", "c", "nowhere"])] = rng.choice([1, 2, 3])


def spoil_axes(rng, step):
    given = step.options.get("axes", "0")
    step.options["axes"] = rng.choice([given + ",0", given + ",9", "-9", given + "," + given, "1,0", "7", "0,-1"])


def spoil_inputs(rng, step, drawer):
    kind = rng.random()
    if kind < 0.2:
        step.inputs.append(step.inputs[0])
    elif kind < 0.4 and len(step.inputs) > 1:
        step.inputs.pop()
    else:
        step.inputs[rng.randrange(len(step.inputs))] = drawer.operand()


def spoil_options(rng, step):
    name, value = rng.choice([("ord", "3"), ("ord", "1"), ("order", "slow"), ("order", "portable")])
    if step.op in ("einsum", "matmul", "dot"):
        name, value = rng.choice([("out-dtype", "u8"), ("out-dtype", "f16"), ("alpha", "0.5"), ("activation", "relu"),
                                  ("activation", "tanh")])
    step.options[name] = value


def spoil_words(rng, step):
    at = rng.randrange(len(step.arguments))
    if step.op == "relayout":
        step.arguments[at] = rng.choice(["NCHW", "NHWC", "NC/8HW8", "NC/5HW5", "CNHW"])
    elif step.op == "permute":
        step.arguments[at] = rng.choice(["0", "0,0", "1,0", "2,1,0", "0,1,2,3", step.arguments[at] + ",0", "-1"])
    elif step.op == "reduce" and at == 0:
        step.arguments[at] = rng.choice(["median", "max", "argmax"])
    else:
        text = spoil_text(rng, step.arguments[at])
        step.arguments[at] = text.lstrip("-") if text.startswith("--") else text  # a case would take it for a flag


def spoil(step, drawer):
    """Changes a step so that it is likely to be refused."""
    rng = drawer.rng
    ways = [lambda: spoil_inputs(rng, step, drawer)]
    if step.arguments:
        ways += [lambda: spoil_words(rng, step)] * 4
    if step.op in ("rearrange", "repeat", "reduce", "relayout"):
        ways.append(lambda: spoil_lengths(rng, step))
    if step.op not in ("rearrange", "repeat", "copy", "transpose", "permute", "relayout"):
        ways.append(lambda: spoil_options(rng, step))
        if step.op not in ("reduce", "einsum", "matmul", "dot"):
            ways += [lambda: spoil_axes(rng, step)] * 3
    rng.choice(ways)()
