import type { LanguageFn } from 'highlight.js';

// Grammars of highlight.js that are large compared with how often their languages are shown. These ones have what people see most:
// comments, strings, numbers, keywords and names.

/** Also for SCSS and Less. A value is short: looking further for its end would be slow in text that is no style sheet. */
export const css: LanguageFn = (hljs) => ({
  name: 'CSS',
  case_insensitive: true,
  contains: [
    hljs.C_BLOCK_COMMENT_MODE,
    { scope: 'keyword', begin: /@[a-z-]+/ },
    hljs.APOS_STRING_MODE,
    hljs.QUOTE_STRING_MODE,
    { scope: 'attribute', begin: /(--)?\b[a-z][\w-]*(?=\s*:[^{};\n]{0,120}[;}\n])/ },
    { scope: 'variable', begin: /--[\w-]+|\$[\w-]+/ },
    { scope: 'number', begin: /#[\da-f]{3,8}\b(?![^{}\n]{0,80}\{)|(\b\d+(\.\d+)?|\B\.\d+)(%|[a-z]+)?/ },
    { scope: 'selector-id', begin: /#[a-z_][\w-]*/ },
    { scope: 'selector-class', begin: /\.[a-z_][\w-]*/ },
    { scope: 'selector-attr', begin: /\[/, end: /\]/, contains: [hljs.APOS_STRING_MODE, hljs.QUOTE_STRING_MODE] },
    { scope: 'selector-pseudo', begin: /::?[a-z-]+(?=[^;{}\n]{0,120}\{)/ },
    { scope: 'built_in', begin: /(?<![a-z-])[a-z-]+(?=\()/ },
    { scope: 'selector-tag', begin: /\b[a-z][\w-]*(?=[^;{}\n]{0,120}\{)/ },
  ],
});

const SWIFT =
  'actor any as associatedtype async await break case catch class continue convenience default defer deinit didSet do ' +
  'dynamic else enum extension fallthrough fileprivate final for func get guard if import in indirect infix init inout ' +
  'internal is isolated lazy let mutating nonisolated nonmutating open operator optional override postfix ' +
  'precedencegroup prefix private protocol public repeat required rethrows return self Self set some static struct ' +
  'subscript super switch throw throws try typealias unowned var weak where while willSet';

const KOTLIN =
  'abstract annotation as break by catch class companion const constructor continue crossinline data do dynamic else enum expect ' +
  'external final finally for fun get if import in infix init inline inner interface internal is it lateinit noinline object ' +
  'open operator out override package private protected public reified return sealed set super suspend tailrec this throw ' +
  'try typealias typeof val value var vararg when where while';

/** Languages with braces, nested comments and texts of several lines. */
const braces =
  (name: string, keyword: string): LanguageFn =>
  (hljs) => ({
    name,
    keywords: { keyword, literal: 'true false nil null' },
    contains: [
      hljs.C_LINE_COMMENT_MODE,
      hljs.COMMENT(/\/\*/, /\*\//, { contains: ['self'] }),
      {
        scope: 'string',
        variants: [
          { begin: /"""/, end: /"""/ },
          { begin: /"/, end: /"/, illegal: /\n/ },
        ],
        contains: [hljs.BACKSLASH_ESCAPE],
      },
      { scope: 'number', begin: /\b(0x[\da-f_]+|0b[01_]+|0o[0-7_]+|\d[\d_]*(\.\d[\d_]*)?(e[+-]?\d+)?)[a-z]?\b/i },
      { scope: 'meta', begin: /[@#][a-z]\w*/i },
      { scope: 'type', begin: /\b[A-Z]\w*/ },
    ],
  });

export const swift: LanguageFn = braces('Swift', SWIFT);
export const kotlin: LanguageFn = braces('Kotlin', KOTLIN);

const POWERSHELL =
  'begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach function hidden ' +
  'if in param process return static switch throw trap try until using while';

export const powershell: LanguageFn = (hljs) => {
  const variable = { scope: 'variable', begin: /\$(\w[\w:]*|\{[^}]*\}|[?^$_])/ };
  return {
    name: 'PowerShell',
    case_insensitive: true,
    keywords: POWERSHELL,
    contains: [
      hljs.COMMENT(/<#/, /#>/),
      hljs.HASH_COMMENT_MODE,
      { scope: 'string', begin: /@'/, end: /^'@/m },
      { scope: 'string', begin: /'/, end: /'/ },
      { scope: 'string', begin: /"/, end: /"/, contains: [{ begin: /`./ }, variable] },
      { scope: 'literal', begin: /\$(null|true|false)\b/ },
      variable,
      { scope: 'built_in', begin: /\b[a-z]+-[a-z]\w*/ },
      { scope: 'operator', begin: /-[a-z]+\b/ },
      { scope: 'type', begin: /\[[a-z][\w.]*(\[\])?\]/ },
      hljs.NUMBER_MODE,
    ],
  };
};

const PHP =
  'abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty ' +
  'enum extends final finally fn for foreach from function global goto if implements include include_once instanceof ' +
  'insteadof interface isset list match namespace new or print private protected public readonly require require_once ' +
  'return self static switch throw trait try unset use var while xor yield';

export const php: LanguageFn = (hljs) => {
  const variable = { scope: 'variable', begin: /(?<!\$)\$+[a-z_]\w*/i };
  return {
    name: 'PHP',
    case_insensitive: true,
    keywords: { keyword: PHP, literal: 'true false null' },
    contains: [
      { scope: 'meta', begin: /<\?(php|=)?|\?>/i },
      hljs.C_LINE_COMMENT_MODE,
      hljs.C_BLOCK_COMMENT_MODE,
      hljs.COMMENT(/#(?!\[)/, /$/),
      hljs.APOS_STRING_MODE,
      { scope: 'string', begin: /"/, end: /"/, contains: [hljs.BACKSLASH_ESCAPE, variable] },
      variable,
      { scope: 'title function_', begin: /\b[a-z_]\w*(?=\()/i },
      hljs.NUMBER_MODE,
    ],
  };
};

const SQL =
  'add all alter and any as asc begin between by cascade case cast check collate column commit conflict constraint create cross ' +
  'current database default deferrable delete desc distinct do drop else end escape except exists explain fetch first for foreign ' +
  'from full function grant group having if in index inner insert intersect into is join key lateral left like limit materialized ' +
  'natural not nothing offset on or order outer over partition pragma primary procedure recursive references rename replace ' +
  'returning revoke right rollback row rows schema select set table temp temporary then to transaction trigger truncate union ' +
  'unique update using vacuum values view when where window with';
const SQL_TYPES =
  'bigint binary blob boolean bytea char character date decimal double float int integer interval json jsonb numeric precision ' +
  'real serial smallint text time timestamp timestamptz tinyint uuid varchar';

export const sql: LanguageFn = (hljs) => ({
  name: 'SQL',
  case_insensitive: true,
  keywords: { keyword: SQL, type: SQL_TYPES, literal: 'true false null unknown' },
  contains: [
    hljs.COMMENT('--', '$'),
    hljs.C_BLOCK_COMMENT_MODE,
    { scope: 'string', begin: /'/, end: /'/, contains: [{ begin: /''/ }] },
    { begin: /"/, end: /"/, contains: [{ begin: /""/ }] },
    { scope: 'built_in', begin: /\b(avg|coalesce|count|max|min|now|sum)(?=\s*\()/ },
    { scope: 'variable', begin: /[@:$]\w+/ },
    hljs.NUMBER_MODE,
  ],
});
