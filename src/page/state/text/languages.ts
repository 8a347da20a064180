import type { LanguageFn } from 'highlight.js';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import graphql from 'highlight.js/lib/languages/graphql';
import http from 'highlight.js/lib/languages/http';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import lua from 'highlight.js/lib/languages/lua';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import shell from 'highlight.js/lib/languages/shell';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { css, kotlin, php, powershell, sql, swift } from './short-grammars.ts';

/** The languages that can be highlighted. */
export const GRAMMARS = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  graphql,
  http,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  php,
  powershell,
  python,
  ruby,
  rust,
  shell,
  sql,
  swift,
  typescript,
  xml,
  yaml,
} satisfies Record<string, LanguageFn>;

export type Language = keyof typeof GRAMMARS;

/** Languages that are embedded in other languages. */
export const WITHIN: Partial<Record<Language, readonly Language[]>> = {
  dockerfile: ['bash'],
  javascript: ['xml', 'css', 'graphql'],
  markdown: ['xml', 'css', 'javascript'],
  shell: ['bash'],
  typescript: ['xml', 'css', 'graphql'],
  xml: ['css', 'javascript'],
};

/** Other names of languages on code blocks, and file endings. */
const OTHER_NAMES: Partial<Record<Language, string>> = {
  bash: 'sh zsh ksh bashrc zshrc profile env',
  c: 'h',
  cpp: 'c++ cc cxx hpp hh hxx h++',
  csharp: 'cs c#',
  css: 'scss less',
  diff: 'patch',
  dockerfile: 'docker containerfile',
  go: 'golang mod',
  graphql: 'gql',
  ini: 'toml cfg conf editorconfig gitconfig properties service',
  javascript: 'js jsx mjs cjs',
  json: 'jsonc json5 jsonl ndjson webmanifest',
  kotlin: 'kt kts',
  makefile: 'make mk mak',
  markdown: 'md mkd mdx',
  powershell: 'ps1 psm1 pwsh',
  python: 'py pyi pyw gyp',
  ruby: 'rb gemfile rakefile gemspec',
  rust: 'rs',
  shell: 'console terminal shellsession',
  sql: 'psql pgsql mysql sqlite ddl',
  typescript: 'ts tsx mts cts',
  xml: 'html htm xhtml svg rss vue svelte plist xsl',
  yaml: 'yml',
};

const BY_NAME = new Map<string, Language>(
  toLanguages().flatMap((language) =>
    [language, ...(OTHER_NAMES[language]?.split(' ') ?? [])].map((name) => [name, language] as const),
  ),
);

function toLanguages(): Language[] {
  const isLanguage = (name: string): name is Language => name in GRAMMARS;
  return Object.keys(GRAMMARS).filter(isLanguage);
}

/** The language of a code block: `ts`, `c++`, `python title="x"`. */
export const findLanguage = (fence: string): Language | undefined =>
  BY_NAME.get(/^[^\s{,:]*/.exec(fence.trim())?.[0].toLowerCase() ?? '');

/** The language of a file, by its ending or full name. */
export function findFileLanguage(path: string): Language | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return BY_NAME.get(name.slice(name.lastIndexOf('.') + 1));
}
