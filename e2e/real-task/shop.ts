import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A small project in a git repository: two of its files are wrong, and one of its tests says so. */
export interface Shop extends AsyncDisposable {
  folder: string;
  read(file: string): Promise<string>;
  /** The subjects of its commits, newest first. */
  commits(): Promise<string[]>;
  /** Files that differ from the last commit. */
  changed(): Promise<string[]>;
}

const FILES = {
  'package.json': '{ "name": "shop", "type": "module", "private": true }\n',
  'src/discount.js': [
    '/** Takes a percentage off a price in cents. */',
    'export function withDiscount(cents, percent) {',
    '  return cents - percent;',
    '}',
    '',
  ].join('\n'),
  'src/cart.js': [
    "import { withDiscount } from './discount.js';",
    '',
    '/** The total in cents of what is in the cart. */',
    'export function totalOf(items, percent = 0) {',
    '  const sum = items.reduce((total, { cents }) => total + cents, 0);',
    '  return withDiscount(sum, percent);',
    '}',
    '',
  ].join('\n'),
  'test/cart.test.js': [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    "import { totalOf } from '../src/cart.js';",
    '',
    "test('a cart with two of the same, and ten percent off', () => {",
    '  assert.equal(totalOf([{ cents: 1000, count: 2 }, { cents: 500, count: 1 }], 10), 2250);',
    '});',
    '',
  ].join('\n'),
};

/** What the agent is asked to do. */
export const WISH =
  'The total of a cart is wrong. Find out why, plan the repair with me, repair it, and run the tests.';
export const COMMIT = 'Commit the repair.';
export const GOAL = 'GOAL: totals of carts with counts and discounts are right';

export const STEPS = ['Multiply by count in src/cart.js', 'Take off a percentage in src/discount.js', 'Run the tests'];

export const PLAN = [
  '## Goal',
  'The total of a cart counts each item as often as it is in it, and takes off a percentage.',
  '## Current State',
  'src/cart.js ignores `count`; src/discount.js takes off cents.',
  '## Plan',
  ...STEPS.map((step, index) => `${index + 1}. ${step}`),
  '## Risks',
  'Callers that pass no count.',
].join('\n');

export const PATCH = [
  '*** Begin Patch',
  '*** Update File: src/cart.js',
  '@@',
  '-  const sum = items.reduce((total, { cents }) => total + cents, 0);',
  '+  const sum = items.reduce((total, { cents, count }) => total + cents * count, 0);',
  '*** Update File: src/discount.js',
  '@@',
  '-  return cents - percent;',
  '+  return Math.round(cents * (1 - percent / 100));',
  '*** End Patch',
].join('\n');

export const REPAIRED = ['src/cart.js', 'src/discount.js'];

/** Creates it in a folder of its own. */
export async function openShop(): Promise<Shop> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'headgate-shop-')));
  for (const [file, text] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  const git = async (...args: string[]) => (await run('git', args, { cwd: folder })).stdout;
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'Shop');
  await git('config', 'user.email', 'shop@example.org');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'A shop');
  const lines = (text: string) => text.split('\n').filter((line) => line !== '');
  return {
    folder,
    read: (file) => readFile(path.join(folder, file), 'utf8'),
    commits: async () => lines(await git('log', '--format=%s')),
    changed: async () => lines(await git('diff', '--name-only', 'HEAD')),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Runs its tests here, outside of any agent. */
export async function testsPass({ folder }: Pick<Shop, 'folder'>): Promise<boolean> {
  const env = { PATH: process.env.PATH ?? '' }; // not those of the test runner that runs this
  return run(process.execPath, ['--test'], { cwd: folder, env }).then(
    () => true,
    (error: unknown) => {
      assert.ok(error instanceof Error && 'code' in error && error.code === 1, String(error));
      return false;
    },
  );
}
