// Tables in their four formats.
#include "harness/table.hpp"

#include <gtest/gtest.h>

namespace axisloom::harness {
namespace {

Table sample() {
  Table table({"name", "bytes", "ok"});
  table.add({"a|b", bytes_cell(1536), true});
  table.add({"quote \" and, comma", bytes_cell(7), false});
  return table;
}

TEST(HarnessTable, NumbersStandRightAndTextLeft) {
  EXPECT_EQ(sample().text(Format::table),
            "name                   bytes  ok\n"
            "a|b                 1.50 KiB  yes\n"
            "quote \" and, comma       7 B  no\n");
}

TEST(HarnessTable, JsonKeepsNumbersAndBooleans) {
  const auto parsed = nlohmann::json::parse(sample().text(Format::json));
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[0]["bytes"], 1536);
  EXPECT_EQ(parsed[0]["ok"], true);
  EXPECT_EQ(parsed[1]["name"], "quote \" and, comma");
}

TEST(HarnessTable, CsvQuotesWhatItMust) {
  EXPECT_EQ(sample().text(Format::csv), "name,bytes,ok\na|b,1536,true\n\"quote \"\" and, comma\",7,false\n");
}

TEST(HarnessTable, MarkdownEscapesBars) {
  EXPECT_EQ(sample().text(Format::md),
            "| name | bytes | ok |\n|---|---|---|\n| a\\|b | 1.50 KiB | yes |\n| quote \" and, comma | 7 B | no |\n");
}

TEST(HarnessTable, AnEmptyTableIsStillValid) {
  EXPECT_EQ(Table({"device"}).text(Format::json), "[]\n");
  EXPECT_EQ(Table({"device"}).text(Format::table), "device\n");
}

TEST(HarnessTable, BadUtf8DoesNotSpoilTheAnswer) {
  Table table({"name"});
  table.add({"caf\xE9"});
  EXPECT_TRUE(nlohmann::json::accept(table.text(Format::json)));
}

TEST(HarnessTable, UnitsOfBytesAndSeconds) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1024), "1 KiB");
  EXPECT_EQ(human_bytes(3ull << 30), "3 GiB");
  EXPECT_EQ(human_seconds(12.34e-6), "12.3 us");
  EXPECT_EQ(human_seconds(0.0456), "45.60 ms");
  EXPECT_EQ(human_seconds(3.21), "3.21 s");
}

}  // namespace
}  // namespace axisloom::harness
