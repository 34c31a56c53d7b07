"""Print how long counting primes takes: one METRIC line for each of five repeats."""

from time import process_time

from primes import count_primes

count_primes(1200)  # not measured: the first call finds cold caches
for _ in range(5):
    began = process_time()
    count_primes(1200)
    print(f"METRIC latency={(process_time() - began) * 1000:.4f} ms")
