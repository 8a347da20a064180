import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommand } from '../permissions/read-command.ts';
import { findProtectedWrites, isProtected } from './protected-paths.ts';

const writes = (command: string, roots = ['/w']) =>
  findProtectedWrites(readCommand(command, { folder: '/w', home: '/home/me' }), roots).map(({ place }) =>
    place.slice(3),
  );

test('a path is protected in a root, and so is everything in it', () => {
  const paths = [
    '/w/.git/hooks',
    '/w/.git/hooks/post-commit',
    '/w/.git/config',
    '/w/node_modules/.bin/tsc',
    '/w/.envrc',
  ];
  assert.deepEqual(
    paths.map((path) => isProtected(path, ['/v', '/w'])),
    paths.map(() => true),
  );
  const others = ['/w', '/w/.git', '/w/.git/HEAD', '/w/.git/hooks2', '/w/sub/.envrc', '/v/.envrc', '/w/.envrc.example'];
  assert.deepEqual(
    others.map((path) => isProtected(path, ['/w'])),
    others.map(() => false),
  );
});

for (const [command, expected] of Object.entries({
  'echo x > .envrc': ['.envrc'],
  'touch .git/hooks/post-commit': ['.git/hooks'],
  'cp a .vscode/settings.json': ['.vscode'],
  'git remote add origin https://example.com/x': ['.git/config', '.git/hooks'],
  'git init': ['.git/config', '.git/hooks'],
  'cd sub && npm install': ['node_modules/.bin'],
  'rm -rf node_modules': ['node_modules/.bin'],
  'rm -rf .git': ['.git/commondir', '.git/config', '.git/config.worktree', '.git/hooks'],
  'echo ../x > .git/commondir': ['.git/commondir'],
  'git sparse-checkout set src': ['.git/config', '.git/config.worktree'],
  'sudo -n git config user.name x': ['.git/config', '.git/hooks'],
  'git -C sub -c a=b remote add x y': ['.git/config', '.git/hooks'],
  'npm --prefix sub ci': ['node_modules/.bin'],
  'git checkout main': ['.bashrc', '.git/config'],
  'git push -u origin main': ['.git/config', '.git/hooks'],
  'git branch -m x y': ['.git/config', '.git/hooks'],
  'find . -name x | xargs git checkout': ['.bashrc', '.git/config'],
  'git push origin main && git branch x && git checkout -b y && git switch -c z': [],
  'git branch && git remote -v && git config --get user.name && git stash list': [],
  'x=.envrc; echo a > $x': [],
  'touch .VSCODE/tasks.json': ['.vscode'],
  'npm test': [],
  'git status && git commit -m init': [],
  'ls -la > files.txt': [],
  'python3 setup.py': [],
  'cat .envrc': [],
})) {
  test(`protected paths that this names as changed: ${command}`, () => {
    const found = writes(command);
    // What a checkout changes is every file that others obey; one of them stands for all.
    const shown = found.length > 5 ? found.filter((name) => expected.some((each) => each === name)) : found;
    assert.deepEqual(shown, expected);
  });
}

test('in several roots a program may change what is protected in each', () => {
  assert.deepEqual(writes('npm ci', ['/w', '/v']), ['node_modules/.bin', 'node_modules/.bin']);
});

test('it is known what of a protected path is changed; deleting a folder, or an implied change, is about all of it', () => {
  const of = (command: string) => findProtectedWrites(readCommand(command, { folder: '/w' }), ['/w']);
  assert.deepEqual(of('touch .git/hooks/post-commit'), [{ place: '/w/.git/hooks', path: '/w/.git/hooks/post-commit' }]);
  assert.deepEqual(of('rm -rf node_modules'), [{ place: '/w/node_modules/.bin', path: '/w/node_modules/.bin' }]);
  assert.deepEqual(of('npm ci'), [{ place: '/w/node_modules/.bin', path: '/w/node_modules/.bin' }]);
});
