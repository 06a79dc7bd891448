#include "redouble/sim/cli/help.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/nearest_word.h"
#include "redouble/sim/cli/support/version.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kHelpFooter[] =
    "Examples:\n"
    "  redouble help                     the subcommands\n"
    "  redouble help serve               all about one subcommand\n"
    "  redouble help --man > redouble.1  the manual page\n"
    "Exit codes: 0 printed, 2 bad usage.";

constexpr char kCompletionFooter[] =
    "Examples:\n"
    "  redouble completion bash > /etc/bash_completion.d/redouble\n"
    "  redouble completion zsh > ~/.zfunc/_redouble\n"
    "  redouble completion fish > ~/.config/fish/completions/redouble.fish\n"
    "Exit codes: 0 printed, 2 bad usage.";

struct HelpArguments {
  std::string command;
  bool man = false;
};

std::vector<const CLI::App*> SubcommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> OptionsOf(const CLI::App& app) {
  return app.get_options([](const CLI::Option*) { return true; });
}

// The values of an option that has a fixed set, from the name of its type: "TEXT:{system,manual}".
std::vector<std::string> ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{');
  const size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return absl::StrSplit(type.substr(begin + 1, end - begin - 1), ',');
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// A line of text in roff: a backslash, and a period or quote at the beginning, are escaped.
std::string Roff(std::string_view line) {
  std::string text = absl::StrReplaceAll(absl::string_view(line.data(), line.size()),
                                         {{"\\", "\\e"}, {"-", "\\-"}});
  if (text.starts_with('.') || text.starts_with('\'')) text.insert(0, "\\&");
  return text;
}

void AddVerbatim(const std::string& text, std::string& page) {
  page += ".nf\n";
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::StrAppend(&page, Roff(std::string(line)), "\n");
  }
  page += ".fi\n";
}

// "-h,--help", or the name of a positional.
std::string NamesOf(const CLI::Option& option) {
  return option.get_positional() ? option.get_name(/*positional=*/true)
                                 : option.get_name(/*positional=*/false, /*all_options=*/true);
}

void AddOptions(const CLI::App& app, std::string& page) {
  for (const CLI::Option* option : OptionsOf(app)) {
    std::string value;
    if (TakesValue(*option) && !option->get_positional()) {
      const std::vector<std::string> values = ValuesOf(*option);
      value = values.empty() ? " VALUE" : " " + absl::StrJoin(values, "|");
    }
    absl::StrAppend(&page, ".TP\n.B ", Roff(NamesOf(*option)), Roff(value), "\n",
                    Roff(option->get_description()), "\n");
  }
}

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : SubcommandsOf(app)) names.push_back(sub->get_name());
  return names;
}

// The words that complete the value of an option, or those after a subcommand.
std::string Words(const std::vector<std::string>& words) { return absl::StrJoin(words, " "); }

std::string BashCompletion(const CLI::App& app) {
  std::string options;
  std::string values;
  for (const CLI::App* sub : SubcommandsOf(app)) {
    absl::StrAppend(&options, "    ", sub->get_name(), ") words=\"", Words(OptionNames(*sub)),
                    "\" ;;\n");
    if (const std::string inner = Words(SubcommandNames(*sub)); !inner.empty()) {
      absl::StrAppend(&values, "    \"", sub->get_name(), " ", sub->get_name(), "\") words=\"",
                      inner, "\" ;;\n");
    }
    for (const CLI::Option* option : OptionsOf(*sub)) {
      if (ValuesOf(*option).empty()) continue;
      // After a positional any word may stand.
      const std::string name =
          option->get_positional() ? "\"*" : absl::StrCat(option->get_name(), "\"");
      absl::StrAppend(&values, "    \"", sub->get_name(), " ", name, ") words=\"",
                      Words(ValuesOf(*option)), "\" ;;\n");
    }
  }
  return absl::StrCat(
      "# Completion of redouble for bash; printed by: redouble completion bash\n"
      "_redouble() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" "
      "words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"",
      Words(SubcommandNames(app)), " ", Words(OptionNames(app)),
      "\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${COMP_WORDS[1]} $before\" in\n",
      values,
      "  esac\n"
      "  if [ -z \"$words\" ] && [[ \"$word\" == -* ]]; then case \"${COMP_WORDS[1]}\" in\n",
      options,
      "  esac; fi\n"
      "  if [ -z \"$words\" ]; then\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _redouble redouble\n");
}

// In single quotes of zsh and fish.
std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "'\\''"}}), "'");
}

std::string ZshCompletion(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* sub : SubcommandsOf(app)) {
    absl::StrAppend(&commands, "    ",
                    Quoted(absl::StrCat(sub->get_name(), ":", sub->get_description())), "\n");
    absl::StrAppend(&cases, "    ", sub->get_name(), ") _arguments");
    if (const std::string inner = Words(SubcommandNames(*sub)); !inner.empty()) {
      absl::StrAppend(&cases, " \\\n      ", Quoted(absl::StrCat("1:command:(", inner, ")")));
    }
    for (const CLI::Option* option : OptionsOf(*sub)) {
      const std::vector<std::string> values = ValuesOf(*option);
      const std::string choice = values.empty() ? "_files" : absl::StrCat("(", Words(values), ")");
      const std::string about =
          absl::StrReplaceAll(option->get_description(), {{"[", "("}, {"]", ")"}, {":", "\\:"}});
      const std::string spec =
          option->get_positional()
              ? absl::StrCat("*:", option->get_name(), ":", choice)
              : absl::StrCat(option->get_name(), "[", about, "]",
                             TakesValue(*option) ? absl::StrCat(":value:", choice) : "");
      absl::StrAppend(&cases, " \\\n      ", Quoted(spec));
    }
    absl::StrAppend(&cases, " ;;\n");
  }
  return absl::StrCat(
      "#compdef redouble\n"
      "# Completion of redouble for zsh; printed by: redouble completion zsh\n"
      "_redouble() {\n"
      "  local -a commands\n"
      "  commands=(\n",
      commands,
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $words[1] in\n",
      cases,
      "  esac\n"
      "}\n"
      "_redouble \"$@\"\n");
}

std::string FishCompletion(const CLI::App& app) {
  std::string text = "# Completion of redouble for fish; printed by: redouble completion fish\n";
  for (const CLI::App* sub : SubcommandsOf(app)) {
    absl::StrAppend(&text, "complete -c redouble -n __fish_use_subcommand -f -a ", sub->get_name(),
                    " -d ", Quoted(sub->get_description()), "\n");
    const std::string where =
        absl::StrCat("complete -c redouble -n '__fish_seen_subcommand_from ", sub->get_name(), "'");
    if (const std::string inner = Words(SubcommandNames(*sub)); !inner.empty()) {
      absl::StrAppend(&text, where, " -f -a ", Quoted(inner), "\n");
    }
    for (const CLI::Option* option : OptionsOf(*sub)) {
      const std::string values = Words(ValuesOf(*option));
      if (option->get_positional()) {
        if (!values.empty()) absl::StrAppend(&text, where, " -f -a ", Quoted(values), "\n");
        continue;
      }
      absl::StrAppend(&text, where, " -l ", option->get_name().substr(2));
      if (!values.empty()) {
        absl::StrAppend(&text, " -x -a ", Quoted(values));
      } else if (TakesValue(*option)) {
        absl::StrAppend(&text, " -r");
      }
      absl::StrAppend(&text, " -d ", Quoted(option->get_description()), "\n");
    }
  }
  return text;
}

struct Shell {
  std::string_view name;
  std::string (*completion)(const CLI::App& app);
};
constexpr Shell kShells[] = {
    {"bash", BashCompletion}, {"zsh", ZshCompletion}, {"fish", FishCompletion}};

int RunHelp(const HelpArguments& arguments, const CLI::App& app, const ProgramContext& context) {
  if (arguments.man) {
    context.out << ManualPage(app);
    return kExitPassed;
  }
  if (arguments.command.empty()) {
    // App::help() would explain the subcommand that was parsed: this one.
    context.out << app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
    return kExitPassed;
  }
  for (const CLI::App* sub : SubcommandsOf(app)) {
    if (sub->get_name() == arguments.command) {
      context.out << sub->help("redouble");
      return kExitPassed;
    }
  }
  const std::vector<std::string> names = SubcommandNames(app);
  context.err << "redouble help: unknown subcommand \"" << arguments.command << "\""
              << base::DidYouMean(arguments.command, names)
              << "; known: " << absl::StrJoin(names, " ") << "\n";
  return kExitBadUsage;
}

}  // namespace

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : OptionsOf(app)) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string ManualPage(const CLI::App& app) {
  std::string page = absl::StrCat(
      ".\\\" Printed by: redouble help --man\n.TH REDOUBLE 1 \"\" \"Redouble ", kVersion,
      "\" \"User Commands\"\n.SH NAME\nredouble \\- ", Roff("a deterministic Redis for tests"),
      "\n.SH SYNOPSIS\n.B redouble\n.I command\n[options]\n.SH DESCRIPTION\n",
      Roff(app.get_description()), "\n.SH OPTIONS\n");
  AddOptions(app, page);
  page += ".SH COMMANDS\n";
  for (const CLI::App* sub : SubcommandsOf(app)) {
    absl::StrAppend(&page, ".SS redouble ", Roff(sub->get_name()), "\n",
                    Roff(sub->get_description()), ".\n");
    AddOptions(*sub, page);
    page += ".PP\n";
    AddVerbatim(sub->get_footer(), page);
  }
  return page;
}

std::string CompletionFor(std::string_view shell, const CLI::App& app) {
  const auto* found = std::find_if(std::begin(kShells), std::end(kShells),
                                   [&](const Shell& row) { return row.name == shell; });
  return found == std::end(kShells) ? "" : found->completion(app);
}

std::function<int()> AddHelp(CLI::App& app, const ProgramContext& context) {
  const auto arguments = std::make_shared<HelpArguments>();
  app.footer(kHelpFooter);
  std::vector<std::string> names;
  for (const Subcommand& subcommand : Subcommands()) names.emplace_back(subcommand.name);
  app.add_option("COMMAND", arguments->command, "The subcommand to explain")
      ->type_name(absl::StrCat("TEXT:{", absl::StrJoin(names, ","), "}"));
  app.add_flag("--man", arguments->man, "Print the manual page of the program");
  return [arguments, &app, &context] { return RunHelp(*arguments, *app.get_parent(), context); };
}

std::function<int()> AddCompletion(CLI::App& app, const ProgramContext& context) {
  const auto shell = std::make_shared<std::string>();
  app.footer(kCompletionFooter);
  std::vector<std::string> names;
  for (const Shell& row : kShells) names.emplace_back(row.name);
  app.add_option("SHELL", *shell, "The shell")->required()->check(CLI::IsMember(names));
  return [shell, &app, &context] {
    context.out << CompletionFor(*shell, *app.get_parent());
    return kExitPassed;
  };
}

}  // namespace redouble::inline v0_1::sim
