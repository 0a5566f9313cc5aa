"""Solutions of 01_chunks."""

# %%
def first_line(node):
    # --- your code
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])
    # --- end
