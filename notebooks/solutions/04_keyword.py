"""Solutions of 04_keyword."""

# %%
def my_tokenize(text):
    # --- your code
    pattern = r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
    return [part.lower() for part in re.findall(pattern, text)]
    # --- end
