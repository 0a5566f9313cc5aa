"""Solutions of 03_enrich_and_filter."""

# %%
def keep(path, namespace):
    # --- your code
    return path == namespace or path.startswith(namespace + "/")
    # --- end

# %%
def my_enrich(chunk):
    # --- your code
    header = f"File: {chunk.path} | Package: {chunk.namespace} | Function: {chunk.qualname}"
    return f"{header}\n\n{chunk.code}"
    # --- end
