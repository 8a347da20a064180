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
    { scope: 'built_in', begin: /[a-z-]+(?=\()/ },
    { scope: 'selector-tag', begin: /\b[a-z][\w-]*(?=[^;{}\n]{0,120}\{)/ },
  ],
});

const SWIFT =
  'actor any as associatedtype async await break case catch class continue convenience default defer deinit didSet do ' +
  'dynamic else enum extension fallthrough fileprivate final for func get guard if import in indirect infix init inout ' +
  'internal is isolated lazy let mutating nonisolated nonmutating open operator optional override postfix ' +
  'precedencegroup prefix private protocol public repeat required rethrows return self Self set some static struct ' +
  'subscript super switch throw throws try typealias unowned var weak where while willSet';

export const swift: LanguageFn = (hljs) => ({
  name: 'Swift',
  keywords: { keyword: SWIFT, literal: 'true false nil' },
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
    { scope: 'number', begin: /\b(0x[\da-f_]+|0b[01_]+|0o[0-7_]+|\d[\d_]*(\.\d[\d_]*)?(e[+-]?\d+)?)\b/i },
    { scope: 'meta', begin: /[@#][a-z]\w*/i },
    { scope: 'type', begin: /\b[A-Z]\w*/ },
  ],
});

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
