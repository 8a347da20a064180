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
  'rm -rf .git': ['.git/config', '.git/hooks'],
  'sudo -n git config user.name x': ['.git/config', '.git/hooks'],
  'git -C sub -c a=b remote add x y': ['.git/config', '.git/hooks'],
  'npm --prefix sub ci': ['node_modules/.bin'],
  'npm test': [],
  'git status && git commit -m init': [],
  'ls -la > files.txt': [],
  'python3 setup.py': [],
  'cat .envrc': [],
})) {
  test(`protected paths that this names as changed: ${command}`, () => {
    assert.deepEqual(writes(command), expected);
  });
}

test('in several roots a program may change what is protected in each', () => {
  assert.deepEqual(writes('npm ci', ['/w', '/v']), ['node_modules/.bin', 'node_modules/.bin']);
});
