"""Solutions of 11_typed_graph."""
# %%
def strength(score, path, weights, decay=0.5):
    # --- your code
    for step in path:
        score *= weights[step.relation] * step.confidence * decay
    return score
    # --- end
