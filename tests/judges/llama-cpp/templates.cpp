// llama.cpp's chat templates as a judge of tools: one JSON object and one answer in each line.
//
//   {"template": "{{ … }}", "tools": [{"type": "function", …}, …]}  →  {"errors": [null, "Value is not iterable", …]}
//
// A tool's error is the server's error for a request with this tool only. Only the files that templates need are linked
// (python/tests/llama_cpp_judge.py names them); stubs below replace the rest of llama.cpp.

#include "chat.h"
#include "common.h"
#include "json.h"
#include "llama.h"

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

// Without a model, there is no vocabulary, and no template other than the given one.
const char * llama_model_chat_template(const llama_model *, const char *) {
    return nullptr;
}
const llama_vocab * llama_model_get_vocab(const llama_model *) {
    return nullptr;
}
llama_token llama_vocab_bos(const llama_vocab *) {
    return LLAMA_TOKEN_NULL;
}
llama_token llama_vocab_eos(const llama_vocab *) {
    return LLAMA_TOKEN_NULL;
}
bool llama_vocab_get_add_bos(const llama_vocab *) {
    return false;
}
bool llama_vocab_get_add_eos(const llama_vocab *) {
    return false;
}
std::vector<llama_token> common_tokenize(const llama_vocab *, const std::string &, bool, bool) {
    throw std::logic_error("expected no vocabulary, found a text to tokenize");
}
std::string common_token_to_piece(const llama_vocab *, llama_token, bool) {
    throw std::logic_error("expected no vocabulary, found a token");
}
int32_t llama_chat_apply_template(const char *, const llama_chat_message *, size_t, bool, char *, int32_t) {
    throw std::logic_error("expected a Jinja template, found the name of another");
}

extern "C" void ggml_abort(const char * file, int line, const char * format, ...) {
    (void) format;
    fprintf(stderr, "aborted at %s:%d\n", file, line);
    std::abort();
}

// Helpers from files that would need the whole library.
bool tty_can_use_colors() {
    return false;
}
bool tty_enable_ansi() {
    return false;
}
std::string string_join(const std::vector<std::string> & parts, const std::string & between) {
    std::string joined;
    for (size_t i = 0; i < parts.size(); i++) {
        joined += (i == 0 ? "" : between) + parts[i];
    }
    return joined;
}
std::string string_repeat(const std::string & text, size_t times) {
    std::string repeated;
    for (size_t i = 0; i < times; i++) {
        repeated += text;
    }
    return repeated;
}
std::vector<std::string> string_split(const std::string & text, const std::string & at) {
    std::vector<std::string> parts;
    size_t start = 0;
    for (size_t end; (end = text.find(at, start)) != std::string::npos; start = end + at.size()) {
        parts.push_back(text.substr(start, end - start));
    }
    parts.push_back(text.substr(start));
    return parts;
}
void string_replace_all(std::string & text, const std::string & search, const std::string & replacement) {
    if (search.empty()) {
        return;
    }
    for (size_t at = 0; (at = text.find(search, at)) != std::string::npos; at += replacement.size()) {
        text.replace(at, search.size(), replacement);
    }
}

static common_json asked(const std::string & line) {
    const common_json question = common_json::parse(line);
    common_json errors = common_json::array();
    const auto templates = common_chat_templates_init(nullptr, question.at("template").get<std::string>(), "<s>", "</s>");
    for (const auto & tool : question.at("tools")) {
        common_json list = common_json::array();
        list.push_back(tool);
        try {
            common_chat_templates_inputs inputs;
            common_chat_msg message;
            message.role = "user";
            message.content = "Hello";
            inputs.messages = {message};
            inputs.tools = common_chat_tools_parse_oaicompat(list);
            inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
            inputs.add_generation_prompt = true;
            inputs.now = std::chrono::system_clock::time_point();
            common_chat_templates_apply(templates.get(), inputs);
            errors.push_back(nullptr);
        } catch (const std::exception & error) {
            errors.push_back(std::string(error.what()));
        }
    }
    return errors;
}

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        common_json answer = common_json::object();
        try {
            answer["errors"] = asked(line);
        } catch (const std::exception & error) {
            answer["error"] = std::string(error.what());
        }
        std::cout << answer.dump() << std::endl;
    }
}
