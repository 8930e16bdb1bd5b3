"""One thread for every test: small tensors gain nothing from two, and lose much where the cores are busy."""

import torch

torch.set_num_threads(1)
