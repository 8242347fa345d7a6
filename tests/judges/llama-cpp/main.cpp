// llama.cpp's own converter and grammar parser as a judge of schemas: one JSON object and one answer in each line.
//
//   {"schema": {…}, "texts": ["{\"a\":1}", …]}  →  {"error": null, "accepts": [true, …]}
//
// `error` is the error that its server would return, `accepts` tells for each text whether the grammar admits it. Only
// the files that these need are linked (python/tests/llama_cpp_judge.py names them); stubs below replace the rest of
// llama.cpp.

#include "json-schema-to-grammar.h"
#include "common.h"
#include "json.h"
#include "llama-grammar.h"
#include "llama-vocab.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" void ggml_abort(const char * file, int line, const char * format, ...) {
    (void) format;
    fprintf(stderr, "aborted at %s:%d\n", file, line);
    std::abort();
}

void llama_log_internal(ggml_log_level level, const char * format, ...) {
    (void) level;
    (void) format;
}

// Grammars of schemas name no tokens, so no vocabulary is read.
int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const {
    throw std::logic_error("expected no vocabulary, found a token in a grammar");
}
const std::string & llama_vocab::token_to_piece(llama_token) const {
    throw std::logic_error("expected no vocabulary, found a token in a grammar");
}
bool llama_vocab::is_eog(llama_token) const {
    return false;
}

// Three helpers from a file that would need the whole library.
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

static bool accepts(const llama_grammar & start, const std::string & text) {
    llama_grammar * grammar = llama_grammar_clone_impl(start);
    bool complete = false;
    try {
        llama_grammar_accept_str(*grammar, text);
        for (const auto & stack : llama_grammar_get_stacks(grammar)) {
            complete = complete || stack.empty();
        }
    } catch (const std::exception &) {
        complete = false;
    }
    llama_grammar_free_impl(grammar);
    return complete;
}

static common_json answer(const std::string & line) {
    common_json result = common_json::object();
    result["error"] = nullptr;
    common_json found = common_json::array();
    common_json question;
    try {
        question = common_json::parse(line);
    } catch (const std::exception & error) {
        result["error"] = std::string("no JSON: ") + error.what();
        result["accepts"] = found;
        return result;
    }
    llama_grammar * grammar = nullptr;
    try {
        const std::string text = json_schema_to_grammar(question.at("schema"), true);
        grammar = llama_grammar_init_impl(nullptr, text.c_str(), "root", false, nullptr, 0, nullptr, 0);
        if (grammar == nullptr) {
            result["error"] = "failed to parse grammar";
        }
    } catch (const std::exception & error) {
        result["error"] = std::string(error.what());
    }
    if (question.contains("texts")) {
        for (const auto & text : question.at("texts")) {
            found.push_back(grammar != nullptr && accepts(*grammar, text.get<std::string>()));
        }
    }
    if (grammar != nullptr) {
        llama_grammar_free_impl(grammar);
    }
    result["accepts"] = found;
    return result;
}

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        std::cout << answer(line).dump() << std::endl;
    }
}
