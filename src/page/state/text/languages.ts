/** The languages that can be highlighted, with their other names on code blocks and as file endings. */
const NAMES = {
  bash: 'sh zsh ksh bashrc zshrc profile env',
  c: 'h',
  cpp: 'c++ cc cxx hpp hh hxx h++',
  csharp: 'cs c#',
  css: 'scss less',
  diff: 'patch',
  dockerfile: 'docker containerfile',
  go: 'golang mod',
  graphql: 'gql',
  http: '',
  ini: 'toml cfg conf editorconfig gitconfig properties service',
  java: '',
  javascript: 'js jsx mjs cjs',
  json: 'jsonc json5 jsonl ndjson webmanifest',
  kotlin: 'kt kts',
  lua: '',
  makefile: 'make mk mak',
  markdown: 'md mkd mdx',
  php: '',
  powershell: 'ps1 psm1 pwsh',
  python: 'py pyi pyw gyp',
  ruby: 'rb gemfile rakefile gemspec',
  rust: 'rs',
  shell: 'console terminal shellsession',
  sql: 'psql pgsql mysql sqlite ddl',
  swift: '',
  typescript: 'ts tsx mts cts',
  xml: 'html htm xhtml svg rss vue svelte plist xsl',
  yaml: 'yml',
};

export type Language = keyof typeof NAMES;

const BY_NAME = new Map<string, Language>(
  toLanguages().flatMap((language) =>
    `${language} ${NAMES[language]}`
      .trim()
      .split(' ')
      .map((name) => [name, language] as const),
  ),
);

function toLanguages(): Language[] {
  const isLanguage = (name: string): name is Language => name in NAMES;
  return Object.keys(NAMES).filter(isLanguage);
}

/** The language of a code block: `ts`, `c++`, `python title="x"`. */
export const findLanguage = (fence: string): Language | undefined =>
  BY_NAME.get(/^[^\s{,:]*/.exec(fence.trim())?.[0].toLowerCase() ?? '');

/** The language of a file, by its ending or full name. */
export function findFileLanguage(path: string): Language | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return BY_NAME.get(name.slice(name.lastIndexOf('.') + 1));
}
