import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const ROOT = path.resolve(import.meta.dirname, '..');

interface Page {
  name: string;
  title: string;
  sections: readonly string[];
}

function readPage(file: string): Page {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const headings = (mark: string) =>
    [...text.matchAll(new RegExp(`^${mark} (.*)$`, 'gm'))].map(([, title = '']) => title);
  return { name: path.basename(file), title: headings('#').join(' and '), sections: headings('##') };
}

const pages = globSync('decisions/[0-9]*.md', { cwd: ROOT }).sort().map(readPage);

test('every decision states its question, the decision and the reasons, in this order', () => {
  const others = pages.filter(({ sections }) => sections.join(', ') !== 'Question, Decision, Why');
  assert.deepEqual(others, []);
});

test('the list of decisions has each page, with its number and its title', () => {
  const list = readFileSync(path.join(ROOT, 'decisions/README.md'), 'utf8');
  const listed = [...list.matchAll(/^(\d+)\. \[(.*)\]\((.*)\)$/gm)].map(([, number, title, name]) => ({
    name,
    title: `${number}. ${title}`,
  }));
  assert.notDeepEqual(pages, []);
  assert.deepEqual(
    listed,
    pages.map(({ name, title }) => ({ name, title })),
  );
});
