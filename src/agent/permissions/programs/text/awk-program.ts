/** The patterns below take time that grows with the square of the length. */
const MAX_LENGTH = 2_000;
/** Commands, coprocesses, sockets, extensions, and other files than those of the arguments; anywhere, also in strings. */
const RUNS = /\b(system|getline|ARGV|ARGC|SYMTAB|FUNCTAB)\b|@|\/inet/;
/** `|`, which starts a command, but not `||`. */
const PIPE = /(^|[^|])\|([^|]|$)/;
/** A file name that nothing is appended to; strings are replaced by their numbers. */
const OUTPUT = />{1,2}\s*"(\d+)"(?=\s*([;}\n]|$))/g;

/** The files that a program of awk writes; undefined if it contains anything else than computing, or anything unknown. */
export function readAwkProgram(text: string): string[] | undefined {
  if (text.length > MAX_LENGTH || RUNS.test(text)) return undefined;
  const found = new AwkReader(text).read();
  if (found === undefined || PIPE.test(found.code)) return undefined;
  const files = [...found.code.matchAll(OUTPUT)].map(([, index]) => found.strings[Number(index)] ?? '');
  // What an escape stands for is not read, and `-` is a file or not.
  if (files.some((file) => file === '' || file === '-' || file.includes('\\'))) return undefined;
  return toStatements(found.code.replace(OUTPUT, '')).some(isRedirected) ? undefined : files;
}

/** Any other > behind print may be an output; the > of conditions stands before or without it. */
const isRedirected = (statement: string): boolean => {
  const at = statement.search(/\bprintf?\b/);
  return at >= 0 && statement.includes('>', at);
};

/** Ends of lines in parentheses and behind operators end no statement. */
function toStatements(code: string): string[] {
  const statements = [''];
  let depth = 0;
  let last = '';
  for (const each of code) {
    if (each === '(') depth += 1;
    if (each === ')') depth -= 1;
    const isEnd = each === ';' || each === '}' || (each === '\n' && depth === 0 && !/[,&|?:{]/.test(last));
    if (isEnd) statements.push('');
    else statements.push((statements.pop() ?? '') + each);
    if (!/\s/.test(each)) last = each;
  }
  return statements;
}

const STRING = /"((?:[^"\\\n]|\\[\s\S])*)"/y;
/** A slash in brackets ends the expression in some versions of awk only, so there is none. */
const EXPRESSION = /\/(?:[^/\\\n[]|\\.|\[\^?(?:\[:\w+:\]|\\.|[^\][\\/\n])+\])+\//y;
const OTHER = /#[^\n]*|\\\r?\n|\w+|\+\+|--|[^\\]/y;
/** Behind these, a slash begins a regular expression. */
const BEFORE_EXPRESSION = /^([({,;!~&|}\n=<>+*%^?:/-]|print|printf|return|exit|case|else|do|in|)$/;
/** Behind these, it may also divide. */
const BEFORE_EITHER = /^(\)|\+\+|--)$/;

/** Splits the text of a program into code, strings and regular expressions. */
class AwkReader {
  readonly #text: string;
  readonly #strings: string[] = [];
  #code = '';
  /** What precedes, without blanks. */
  #last = '';
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The code with numbers in place of strings, without regular expressions and comments; undefined if that is uncertain. */
  read(): { code: string; strings: readonly string[] } | undefined {
    while (this.#at < this.#text.length) if (!this.#next()) return undefined;
    return { code: this.#code, strings: this.#strings };
  }

  #next(): boolean {
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '/' && BEFORE_EXPRESSION.test(this.#last)) return this.#expression();
    if (first === '/' && BEFORE_EITHER.test(this.#last) && this.#hasSlashBehind()) return false;
    const [token] = this.#take(OTHER) ?? [];
    if (token === undefined) return false;
    if (token.startsWith('\\')) this.#code += ' ';
    else if (!token.startsWith('#')) this.#add(token);
    return true;
  }

  #string(): boolean {
    const [, text] = this.#take(STRING) ?? [];
    if (text === undefined) return false;
    this.#add(`"${this.#strings.push(text) - 1}"`);
    return true;
  }

  #expression(): boolean {
    const isFound = this.#take(EXPRESSION) !== undefined;
    if (isFound) this.#add('0');
    return isFound;
  }

  #hasSlashBehind(): boolean {
    const [line = ''] = this.#text.slice(this.#at + 1).split('\n', 1);
    return line.includes('/');
  }

  #add(token: string): void {
    this.#code += token;
    if (!/^[ \t\r]$/.test(token)) this.#last = token;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}
