"""Solutions of 09_graph_expansion."""
# %%
def build(corpus):
    by_name = {chunk.name: chunk.id for chunk in corpus.functions}
    calls = {chunk.id: [] for chunk in corpus.functions}
    # --- your code
    for chunk in corpus.functions:
        for name, _, kind in chunk.references:
            target = by_name.get(name.rsplit(".", 1)[-1])
            if kind == "call" and target and target != chunk.id and target not in calls[chunk.id]:
                calls[chunk.id].append(target)
    # --- end
    return calls


def reverse(calls):
    # --- your code
    callers = {}
    for source, targets in calls.items():
        for target in targets:
            callers.setdefault(target, []).append(source)
    return callers
    # --- end


def expand_one_hop(seeds, calls, callers):
    # --- your code
    found = list(seeds)
    for seed in seeds:
        for near in [*calls.get(seed, []), *callers.get(seed, [])]:
            if near not in found:
                found.append(near)
    return found
    # --- end
