import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSuggestions, isAboutModels, isCommand, isTyped, resumeSearch } from './commands.ts';

const known = {
  models: ['claude', 'qwen3'],
  commands: [{ name: 'review', argument: 'NUMBER', summary: 'Review a change' }],
  saved: [
    { name: 'garden', title: 'garden' },
    { name: '0123456789abcdef', title: 'Which herbs?' },
  ],
};
const drafts = (draft: string) => findSuggestions(draft, known).map((suggestion) => suggestion.draft);

test('a slash with a word is a command, a path is a message', () => {
  assert.deepEqual(['/help', '/name new name', ' /clear', '/etc/hosts is odd', 'see /help', '/', '//'].map(isCommand), [
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('the beginning of a command offers the full command, ready for its argument', () => {
  assert.deepEqual(drafts('/'), [
    ...['/help', '/clear', '/new', '/model ', '/effort ', '/resume ', '/name '],
    ...[
      '/mode ',
      '/share ',
      '/retry ',
      '/rewind ',
      '/undo ',
      '/redo ',
      '/diff ',
      '/edit ',
      '/remove ',
      '/fork ',
      '/steer ',
      '/budget ',
      '/background ',
      '/watches ',
      '/tools ',
      '/template ',
      '/prompt ',
      '/mcp ',
      '/compact ',
      '/workstreams ',
      '/history ',
      '/reason ',
      '/skill ',
      '/review ',
    ],
  ]);
  assert.deepEqual(drafts('/n'), ['/new', '/name ']);
  // The path of a file follows the command, and nothing is offered in its place, so that Enter sends it.
  assert.deepEqual([drafts('/und'), drafts('/undo '), drafts('/undo src/a.ts')], [['/undo '], [], []]);
  assert.equal(findSuggestions('/und', known)[0]?.label, '/undo [keep | overwrite | PATH]');
  assert.deepEqual([drafts('/new'), drafts('hello'), drafts('/n\n'), drafts('say /n')], [[], [], [], []]);
});

test('a command that another one begins with is offered first', () => {
  const offered = findSuggestions('/mode', known);
  assert.deepEqual(
    offered.map((one) => [one.draft, isTyped(one, '/mode')]),
    [
      ['/mode ', true],
      ['/model ', false],
    ],
  );
  const withProject = { ...known, commands: [{ name: 'newest', summary: 'Show the newest' }] };
  assert.deepEqual(
    findSuggestions('/new', withProject).map(({ draft }) => draft),
    ['/new', '/newest'],
  );
});

test('models, efforts and saved conversations are offered as arguments', () => {
  assert.deepEqual(drafts('/model '), ['/model claude', '/model qwen3']);
  assert.deepEqual(drafts('/model QW'), ['/model qwen3']);
  assert.deepEqual(drafts('/model qwen3'), []);
  assert.deepEqual(drafts('/effort '), ['/effort low', '/effort medium', '/effort high']);
  assert.deepEqual(drafts('/resume herb'), ['/resume 0123456789abcdef']);
  assert.deepEqual(drafts('/name x'), []);
});

test('only /model and what may follow it is about models', () => {
  assert.deepEqual(['/model', '/model ', '/model qw', '/models x', '/name a'].map(isAboutModels), [
    false,
    true,
    true,
    false,
    false,
  ]);
});

test('only /resume searches saved conversations', () => {
  assert.deepEqual(['/resume', '/resume ', '/resume my her', '/model x'].map(resumeSearch), [
    undefined,
    '',
    'my her',
    undefined,
  ]);
});
