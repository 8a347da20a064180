import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateStopOn, type Found } from './evaluate.ts';
import { MAX_DEPTH, parseStopOn } from './parse.ts';
import { StopOnError } from './tokens.ts';

const JOB: Found = {
  output: '{"status":"done","n":3,"tags":["a","b"],"error":null}',
  exitCode: 0,
  before: '{"status":"running"}',
};

const resultOf = (source: string, found: Found = JOB): boolean | string => {
  try {
    return evaluateStopOn(parseStopOn(source), found);
  } catch (error) {
    if (error instanceof StopOnError) return error.message;
    throw error;
  }
};

const RESULTS: readonly [string, boolean][] = [
  ['"done" in output', true],
  ["'done' not in output", false],
  ['data["status"] == "done"', true],
  ['data.get("status") == "done" and exit_code == 0', true],
  ['get(data, "missing") is None', true],
  ['data.get("missing", 7) == 7', true],
  ['data.get("error") is not None', false],
  ['data["n"] >= 3 and not data["n"] > 3', true],
  ['len(data["tags"]) == 2 and "b" in data["tags"]', true],
  ['data["tags"] == ["a", "b"]', true],
  ['data["tags"][-1] == "b"', true],
  ['output.lower().startswith("{") or False', true],
  ['lower("ABC") == "abc"', true],
  ['" x ".strip().endswith("x")', true],
  ['changed', true],
  ['prev_output != output', true],
  ['exit_code in [1, 2, -1]', false],
  ['exit_code == True', false], // a number is no truth value
  ['not (changed or exit_code)', false],
  ['"status" in data', true],
  ['"b" < "c" and 1.5e0 <= 2', true],
  ['data["tags"] and "yes"', true],
  ['"a\\"b\\n" == \'a"b\\n\'', true],
];

test('conditions compare, join and look into what a poll printed', () => {
  assert.deepEqual(
    RESULTS.map(([source]) => [source, resultOf(source)]),
    RESULTS,
  );
});

test('the first poll has changed nothing, and output that is not JSON has no data', () => {
  const first: Found = { output: 'hello', exitCode: undefined, before: undefined };
  const sources = ['changed', 'prev_output == ""', 'data is None', 'exit_code is None'];
  assert.deepEqual(
    sources.map((source) => resultOf(source, first)),
    [false, true, true, true],
  );
});

const PROBLEMS: readonly [string, string][] = [
  ['', 'The condition is empty (at character 1)'],
  ['output = 1', 'Unexpected "="; use == to compare (at character 8)'],
  ['output && 1', 'Unexpected "&"; use the words and, or, not (at character 8)'],
  ['"open', 'The text has no closing quote (at character 1)'],
  ['1 < 2 < 3', 'Comparisons cannot be chained; join two with "and" (at character 7)'],
  ['(1', 'Expected ")", found the end (at character 3)'],
  ['output.__class__', 'Unknown method "__class__"; read a key with data["key"] (at character 8)'],
  ['output.lower', 'Expected "(" after .lower (at character 13)'],
  ['len()', 'len takes 1 arguments, with the value that it is called on; got 0 (at character 1)'],
  ['1 not 2', 'Expected "in" after "not" (at character 3)'],
  ['1 2', 'Unexpected "2" (at character 3)'],
  ['data["nothing"]', 'There is no key "nothing"; .get("nothing") gives None instead (at character 5)'],
  ['data["tags"][5]', 'There is no item 5: the list has 2 (at character 13)'],
  ['data["constructor"]', 'There is no key "constructor"; .get("constructor") gives None instead (at character 5)'],
  ['data < 3', '< compares two numbers or two texts, not an object and a number (at character 6)'],
  [
    'data["error"].get("x")',
    'get needs an object, not None (data is None when the output is not JSON) (at character 15)',
  ],
  ['exit_code.lower()', 'lower needs a text, not a number (at character 11)'],
];

test('problems name the place', () => {
  assert.deepEqual(
    PROBLEMS.map(([source]) => [source, resultOf(source)]),
    PROBLEMS,
  );
});

test('an unknown name is refused with those that are known', () => {
  assert.equal(
    resultOf('process.exit()'),
    'Unknown name "process"; known are output, data, exit_code, prev_output, changed and the functions len, lower, strip, startswith, endswith, get (at character 1)',
  );
});

test('long, deep and slow conditions are refused', () => {
  assert.match(String(resultOf('1'.repeat(1_001))), /1001 characters; the limit is 1000/);
  for (const open of ['(', '[', 'not ', 'len('])
    assert.match(String(resultOf(open.repeat(MAX_DEPTH + 1))), /nested more than 24 deep/, open);
  const big = JSON.stringify(Array.from({ length: 30_000 }, (_, n) => n));
  assert.match(String(resultOf('data == data', { ...JOB, output: big })), /too many steps/);
});

/** Numbers that look random, and are the same each time. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state;
  }
}

test('any text ends in a result or in a problem, and never in another error', () => {
  const parts =
    'output data exit_code changed and or not in is ( ) [ ] , . == < "a" \'b 1 -2 None len( .get( .lower() \\ é $ {'.split(
      ' ',
    );
  const random = numbers(7);
  const pick = (most: number) => (random.next().value ?? 0) % most;
  const ends = { result: 0, problem: 0 };
  for (let round = 0; round < 5_000; round++) {
    const source = Array.from({ length: 1 + pick(12) }, () => parts[pick(parts.length)]).join(' ');
    ends[typeof resultOf(source) === 'boolean' ? 'result' : 'problem'] += 1;
  }
  assert.ok(ends.result > 50 && ends.problem > 1_000, JSON.stringify(ends));
});
