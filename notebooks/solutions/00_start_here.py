"""Solution of 00_start_here: the question says what the functions do, in other words."""

# %%
# --- your code
mine = "greedy strategy: largest first by degree, no two adjacent nodes share the same label"
# --- end
for hit in kb.search(mine, k=3):
    print(hit.chunk.id)
