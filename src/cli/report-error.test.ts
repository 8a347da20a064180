import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommanderError } from 'commander';
import { HttpError } from '../../protocol/client/http-error.ts';
import { ConnectionLostError, RequestError } from '../../protocol/client/request-error.ts';
import { NoDaemonError, StartError, UsageError } from '../start-error.ts';
import { toReport } from './report-error.ts';

test('an expected error is reported in one line, with its exit code', () => {
  const refused = new HttpError({ status: 413, message: 'Too\n large', retryAfterMs: undefined });
  const told = [
    new RequestError('NOT_FOUND', 'Unknown workstream'),
    new StartError('The disk\n is full.'),
    new UsageError('The prompt is empty.'),
    new NoDaemonError('No daemon is running.'),
    refused,
    new ConnectionLostError('the connection was closed (1006)'),
    new CommanderError(1, 'commander.unknownOption', "error: unknown option '--x'"),
  ].map((error) => toReport(error));
  assert.deepEqual(told, [
    { text: 'NOT_FOUND: Unknown workstream\n', exitCode: 1 },
    { text: 'headgate: The disk is full.\n', exitCode: 1 },
    { text: 'headgate: The prompt is empty.\n', exitCode: 2 },
    { text: 'headgate: No daemon is running.\n', exitCode: 3 },
    { text: 'headgate: Too large (HTTP 413)\n', exitCode: 1 },
    { text: 'headgate: the connection was closed (1006) before the answer came\n', exitCode: 1 },
    { text: "headgate: unknown option '--x'. See headgate --help.\n", exitCode: 2 },
  ]);
});

test('what an error quotes cannot control the terminal', () => {
  const hostile = '\u001b]0;title\u0007 a\u202eb';
  const shown = '\\u001b]0;title\\u0007 a\\u202eb';
  assert.deepEqual(
    [new StartError(hostile), new RequestError('NOT_FOUND', hostile)].map((error) => toReport(error).text),
    [`headgate: ${shown}\n`, `NOT_FOUND: ${shown}\n`],
  );
  const unforeseen = Object.assign(new Error('a'), { stack: `Error: ${hostile}\n    at a.js` });
  assert.equal(toReport(unforeseen).text, `headgate: Error: ${shown}\n    at a.js\n`);
});

test('wrong usage of a command points to the help of that command', () => {
  const unknown = new CommanderError(1, 'commander.unknownOption', "error: unknown option '--x'");
  assert.equal(toReport(unknown, 'run').text, "headgate: unknown option '--x'. See headgate run --help.\n");
});

test('nothing is printed after the help', () => {
  const help = new CommanderError(1, 'commander.help', '(outputHelp)');
  const asked = new CommanderError(0, 'commander.helpDisplayed', '(outputHelp)');
  assert.deepEqual(
    [help, asked].map((error) => toReport(error)),
    [
      { text: '', exitCode: 2 },
      { text: '', exitCode: 0 },
    ],
  );
});

test('an internal error is reported with its stack', () => {
  const { text, exitCode } = toReport(new TypeError('x is not a function'));
  assert.equal(exitCode, 1);
  assert.match(text, /^headgate: TypeError: x is not a function\n {4}at .*report-error\.test\.ts/);
});
