import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCommandPolicy, NodesConfig } from './command-policy.ts';

const judge = (config: unknown, command: string, nodeId = 'n1') =>
  createCommandPolicy(NodesConfig.parse(config))(nodeId, command);

const RUNNING = [
  'system.run',
  'shell.exec',
  'x.Run',
  'runCommand',
  'run-script',
  'node.spawn',
  'sh',
  'a_bash',
  'readAndRun',
];
const UNKNOWN = [
  'python',
  'sudo',
  'docker',
  'launch',
  'subprocess',
  'popen',
  'runscript',
  'pwsh',
  'brunch.order',
  '--',
  ...[
    'python.read',
    'sudo.write',
    'shelf.list',
    'readFile',
    'look',
    'exec.info',
    'file.read.write',
    'File.Read',
    ' file.read',
  ],
];

for (const command of [...RUNNING, ...UNKNOWN])
  test(`"${command}" may run programs, so it is refused by default`, () => {
    assert.match(judge({}, command) ?? '', /^may run programs/);
    assert.equal(judge({ n1: { allow: [command] } }, command), undefined);
  });

for (const command of ['system.info', 'file.read', 'file.write', 'camera.snap'])
  test(`${command} is allowed by default`, () => {
    assert.equal(judge({}, command), undefined);
  });

test('a denied command stays denied, whatever is allowed on this node or on all', () => {
  assert.equal(judge({ n1: { allow: ['*'], deny: ['file.*'] } }, 'file.read'), 'denied by config.json');
  assert.equal(judge({ '*': { deny: ['file.write'] }, n1: { allow: ['*'] } }, 'file.write'), 'denied by config.json');
  assert.equal(judge({ '*': { deny: ['file.write'] } }, 'file.read'), undefined);
});

test('an allow-list refuses all other commands', () => {
  assert.equal(judge({ n1: { allow: ['system.*'] } }, 'file.read'), 'not allowed by config.json');
  assert.equal(judge({ n1: { allow: ['system.*'] } }, 'system.run'), undefined);
  assert.equal(judge({ n1: { allow: [] } }, 'system.info'), 'not allowed by config.json');
  assert.equal(
    judge({ n1: { allow: ['system.*'] } }, 'system.run', 'n2'),
    `may run programs; to allow it, add nodes: {"n2": {allow: ["system.*", "file.*"]}} to config.json`,
  );
});

test('a command allowed on all nodes is allowed on each', () => {
  assert.equal(judge({ '*': { allow: ['system.run'] }, n1: { allow: ['file.*'] } }, 'system.run'), undefined);
});

test('names of object properties are not nodes', () => {
  assert.equal(judge({}, 'file.read', '__proto__'), undefined);
  assert.equal(judge({}, 'file.read', 'constructor'), undefined);
});
