// One lane, and how it reads its arguments.

#include <iostream>
#include <vector>

static const Index blockIdx = {0, 0, 0}, threadIdx = {0, 0, 0}, blockDim = {1, 1, 1};

inline void __syncthreads() {}

inline unsigned atomicMax(unsigned *word, unsigned value) {
    unsigned old = *word;
    if (value > old) *word = value;
    return old;
}

// Reads a length and as many words, after two and before two words that no kernel may read.
inline std::vector<unsigned> read_words(unsigned item_words, unsigned &length) {
    std::cin >> length;
    std::vector<unsigned> words((length + 4) * item_words, 0xdeadbeefu);
    for (unsigned i = 0; i < length * item_words; i++) std::cin >> words[2 * item_words + i];
    return words;
}
