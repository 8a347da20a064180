import type { Findings } from './findings.ts';

/**
 * Bash evaluates the values of variables in arithmetic as expressions, and a subscript in such a value runs commands:
 * after `x='a[$(id)]'`, `$((x))` runs `id`. So each variable there must have been set to numbers only.
 */
export class ArithmeticUses {
  readonly #used = new Set<string>();
  readonly #numeric = new Set<string>();
  readonly #others = new Set<string>();
  readonly #arrays = new Set<string>();
  readonly #declared = new Set<string>();

  use(name: string): void {
    this.#used.add(name);
  }

  assign(name: string, isNumber: boolean): void {
    (isNumber ? this.#numeric : this.#others).add(name);
    // Bash evaluates a text that is assigned to some of these. The others have to be numbers.
    if (SHELL_NUMBERS.test(name)) this.#used.add(name);
  }

  /** The variable may be an array somewhere. */
  makeArray(name: string): void {
    this.#arrays.add(name);
  }

  /** The variable is declared with an unknown value. If it is an array, a list in it is read, and runs its substitutions. */
  declareUnknown(name: string): void {
    this.#declared.add(name);
  }

  /** Variables in arithmetic that may not be numbers, and arrays that are declared with an unknown value. */
  suspicious(): string[] {
    const used = [...this.#used].filter((name) => !this.#numeric.has(name) || this.#others.has(name));
    return [...used, ...[...this.#declared].filter((name) => this.#arrays.has(name) || SHELL_ARRAYS.test(name))];
  }
}

interface Place {
  findings: Findings;
  arithmetic: ArithmeticUses;
}

/** Names that only the shell sets, to numbers. */
const SHELL_NUMBERS = /^(RANDOM|SECONDS|LINENO|BASHPID|PPID|UID|EUID|OPTIND|EPOCHSECONDS|HISTCMD|SRANDOM)$/;
/** Arrays that the shell makes. */
const SHELL_ARRAYS = /^(BASH_\w+|COMP\w+|COPROC|DIRSTACK|FUNCNAME|GROUPS|MAPFILE|PIPESTATUS)$/;
const NUMBER = /^[+-]?(\d+|0x[\da-f]+|\d+#\w+)$/i;
const SHELL_NUMBER = /^(\$[#?$!]|\$\{#[^}]*\})$/;

/** Notes what an arithmetic word uses. */
export function useArithmetic({ findings, arithmetic }: Place, text: string): void {
  const word = text.trim();
  findings.mayEndLine = true; // an empty subscript is an error, too
  if (word === '' || NUMBER.test(word) || SHELL_NUMBER.test(word)) return;
  const [, plain, braced] = /^(?:\$?([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\})$/.exec(word) ?? [];
  const variable = plain ?? braced;
  if (variable === undefined) {
    useExpression({ findings, arithmetic }, word);
    return;
  }
  if (!SHELL_NUMBERS.test(variable)) arithmetic.use(variable);
}

/** An expression as text, such as a subscript `i+1`. */
function useExpression({ findings, arithmetic }: Place, text: string): void {
  const words = text.split(/[-+*/%()<>=!&|^~?:,\s]+/).filter((word) => word !== '');
  const isSimple = words.length > 1 && words.every((word) => /^\$?\w+$/.test(word));
  if (!isSimple) {
    findings.addGap('arithmetic', text);
    return;
  }
  for (const word of words) useArithmetic({ findings, arithmetic }, word);
}

/** Whether a value is a number whatever happens, for which its source text is enough. */
export const isNumberText = (written: string): boolean => {
  const text = written.replace(/^"(.*)"$/s, '$1');
  return (
    NUMBER.test(text) ||
    SHELL_NUMBER.test(text) ||
    /^\$\(\(((?!\)\)|\$\(|`).)*\)\)$/s.test(text) ||
    /^\{-?\d+\.\.-?\d+(\.\.-?\d+)?\}$/.test(text)
  );
};
