// The replies of FUNCTION are recorded from a real server, in
// tests/conformance/cases/functions.txt. These tests check that a failed operation changes nothing.
#include "redouble/backends/memory/scripting/function_libraries.h"

#include <gtest/gtest.h>

#include <string>

namespace redouble::inline v0_1::memory {
namespace {

using Policy = FunctionLibraries::RestorePolicy;
using store::Reply;

std::string Code(const std::string& library, const std::string& function) {
  return "#!lua name=" + library + "\nredis.register_function('" + function +
         "', function() return '" + library + "' end)";
}

const Compatibility kRedis70(store::Version::kRedis70);

std::string Names(const FunctionLibraries& libraries) {
  std::string names;
  for (const FunctionLibraries::Library* library : libraries.List()) {
    names += library->name + ":";
    for (const FunctionLibraries::Function& function : library->functions) names += function.name;
    names += " ";
  }
  return names;
}

TEST(FunctionLibraries, FindsFunctionsInAnyCase) {
  FunctionLibraries libraries(kRedis70);
  ASSERT_EQ(libraries.Load(Code("lib", "Twice"), {}), Reply::Bulk("lib"));
  ASSERT_NE(libraries.Find("tWICE"), nullptr);
  EXPECT_EQ(libraries.Find("tWICE")->name, "Twice");
  EXPECT_EQ(libraries.Find("thrice"), nullptr);
}

TEST(FunctionLibraries, KeepsTheOldLibraryWhenTheNewOneFails) {
  FunctionLibraries libraries(kRedis70);
  libraries.Load(Code("one", "f"), {});
  libraries.Load(Code("two", "g"), {});
  EXPECT_TRUE(libraries.Load("#!lua name=one\nnonsense()", {.replace = true}).is_error());
  EXPECT_TRUE(libraries.Load("#!lua name=one\n", {.replace = true}).is_error());
  EXPECT_TRUE(libraries.Load(Code("one", "g"), {.replace = true}).is_error());
  EXPECT_EQ(Names(libraries), "one:f two:g ");
  ASSERT_NE(libraries.Find("f"), nullptr);
  EXPECT_FALSE(libraries.Load(Code("one", "h"), {.replace = true}).is_error());
  EXPECT_EQ(Names(libraries), "one:h two:g ");
  EXPECT_EQ(libraries.Find("f"), nullptr);
}

TEST(FunctionLibraries, RestoresAllOrNothing) {
  FunctionLibraries source(kRedis70);
  source.Load(Code("one", "f"), {});
  source.Load(Code("two", "g"), {});
  const std::string dump = source.Dump();
  FunctionLibraries target(kRedis70);
  target.Load(Code("three", "G"), {});
  EXPECT_EQ(target.Restore(dump, Policy::kAppend), Reply::Error("ERR Function g already exists"));
  EXPECT_EQ(target.Restore(dump, Policy::kReplace), Reply::Error("ERR Function g already exists"));
  EXPECT_EQ(Names(target), "three:G ");
  EXPECT_EQ(target.Restore(dump, Policy::kFlush), Reply::Ok());
  EXPECT_EQ(Names(target), "one:f two:g ");
  EXPECT_EQ(target.Restore(dump, Policy::kAppend), Reply::Error("ERR Library one already exists"));
  EXPECT_EQ(target.Restore(dump, Policy::kReplace), Reply::Ok());
  EXPECT_EQ(Names(target), "one:f two:g ");
  EXPECT_EQ(target.library_count(), 2u);
  EXPECT_EQ(target.function_count(), 2u);
}

TEST(FunctionLibraries, RefusesAPayloadThatWasChanged) {
  FunctionLibraries libraries(kRedis70);
  libraries.Load(Code("one", "f"), {});
  std::string dump = libraries.Dump();
  dump[3] ^= 1;
  EXPECT_TRUE(libraries.Restore(dump, Policy::kFlush).is_error());
  EXPECT_EQ(Names(libraries), "one:f ");
}

TEST(FunctionLibraries, ForgetsLibraries) {
  FunctionLibraries libraries(kRedis70);
  libraries.Load(Code("one", "f"), {});
  libraries.Load(Code("two", "g"), {});
  EXPECT_TRUE(libraries.Delete("one"));
  EXPECT_FALSE(libraries.Delete("one"));
  EXPECT_EQ(libraries.Find("f"), nullptr);
  libraries.Flush();
  EXPECT_EQ(Names(libraries), "");
  EXPECT_FALSE(libraries.Load(Code("one", "f"), {}).is_error());
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
