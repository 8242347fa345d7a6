// Writes a model for llama.cpp's server whose next token is drawn at random: every weight is zero, so every token that
// the grammar allows is equally likely. Its vocabulary has a token for each byte, and after them the following:
//   256  the beginning of a message
//   257  the end of a message, which ends a reply
//   258  the beginning of a call in Hermes' form; JSON strings contain no line feed, so it occurs in no argument
//
//   model FILE

#include "ggml.h"
#include "gguf.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

static const int WIDTH = 32;
static const int CONTEXT = 32768;

// The character that GPT-2's byte-level vocabulary has for a byte: itself if it is printable, else the next from U+0100.
static std::vector<uint32_t> characters_of_bytes() {
    std::vector<uint32_t> characters;
    uint32_t next = 0x100;
    for (uint32_t byte = 0; byte < 0x100; byte++) {
        const bool printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
        characters.push_back(printable ? byte : next++);
    }
    return characters;
}

// UTF-8 of a character below U+0800.
static std::string utf8(uint32_t character) {
    if (character < 0x80) {
        return std::string(1, char(character));
    }
    return { char(0xc0 | character >> 6), char(0x80 | (character & 0x3f)) };
}

static void set_vocabulary(gguf_context * file, std::vector<std::string> & tokens) {
    const int32_t normal = 1;
    const int32_t control = 3;
    std::vector<int32_t> types;
    for (const uint32_t character : characters_of_bytes()) {
        tokens.push_back(utf8(character));
        types.push_back(normal);
    }
    for (const char * name : { "<|im_start|>", "<|im_end|>" }) {
        tokens.push_back(name);
        types.push_back(control);
    }
    const uint32_t end_of_message = uint32_t(tokens.size() - 1);
    const char * line_feed = "\xc4\x8a";
    tokens.push_back(std::string("<tool_call>") + line_feed);
    types.push_back(normal);
    std::vector<const char *> texts;
    for (const std::string & token : tokens) {
        texts.push_back(token.c_str());
    }
    // A merge is required. No token has this one's text, so it never applies.
    const char * merge = "\xc4\xa0 \xc4\xa0";
    gguf_set_val_str(file, "tokenizer.ggml.model", "gpt2");
    gguf_set_val_str(file, "tokenizer.ggml.pre", "gpt-2");
    gguf_set_arr_str(file, "tokenizer.ggml.tokens", texts.data(), texts.size());
    gguf_set_arr_data(file, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types.data(), types.size());
    gguf_set_arr_str(file, "tokenizer.ggml.merges", &merge, 1);
    gguf_set_val_u32(file, "tokenizer.ggml.eos_token_id", end_of_message);
    gguf_set_val_bool(file, "tokenizer.ggml.add_bos_token", false);
}

int main(int count, char ** arguments) {
    if (count != 2) {
        fprintf(stderr, "expected the name of a file, found %d arguments\n", count - 1);
        return 2;
    }
    gguf_context * file = gguf_init_empty();
    gguf_set_val_str(file, "general.architecture", "llama");
    gguf_set_val_u32(file, "llama.context_length", CONTEXT);
    gguf_set_val_u32(file, "llama.embedding_length", WIDTH);
    gguf_set_val_u32(file, "llama.block_count", 1);
    gguf_set_val_u32(file, "llama.feed_forward_length", WIDTH);
    gguf_set_val_u32(file, "llama.attention.head_count", 1);
    gguf_set_val_u32(file, "llama.rope.dimension_count", WIDTH);
    gguf_set_val_f32(file, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    std::vector<std::string> tokens;
    set_vocabulary(file, tokens);

    ggml_context * tensors = ggml_init({ /* mem_size */ 16 << 20, /* mem_buffer */ nullptr, /* no_alloc */ false });
    const auto add = [&](const char * name, int64_t columns, int64_t rows) {
        ggml_tensor * tensor = rows ? ggml_new_tensor_2d(tensors, GGML_TYPE_F32, columns, rows)
                                    : ggml_new_tensor_1d(tensors, GGML_TYPE_F32, columns);
        ggml_set_name(tensor, name);
        ggml_set_zero(tensor);
        gguf_add_tensor(file, tensor);
    };
    add("token_embd.weight", WIDTH, int64_t(tokens.size()));
    add("output_norm.weight", WIDTH, 0);
    for (const char * name : { "attn_norm", "ffn_norm" }) {
        add((std::string("blk.0.") + name + ".weight").c_str(), WIDTH, 0);
    }
    for (const char * name : { "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down" }) {
        add((std::string("blk.0.") + name + ".weight").c_str(), WIDTH, WIDTH);
    }
    if (!gguf_write_to_file(file, arguments[1], false)) {
        fprintf(stderr, "expected a file that can be written, found %s\n", arguments[1]);
        return 1;
    }
    ggml_free(tensors);
    gguf_free(file);
    return 0;
}
