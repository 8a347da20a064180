import type {
  AndOr,
  ArithmeticFor,
  Case,
  Command,
  CompoundList,
  For,
  Function as FunctionNode,
  If,
  ParsedScript,
  Pipeline,
  Redirected,
  Select,
  Statement,
  SyntaxNode,
} from 'unbash';
import type { NestedReader, Stdin } from '../programs/program.ts';
import { runProgram } from '../programs/run-program.ts';
import { ArithmeticUses, isNumberText } from './arithmetic.ts';
import { namesSetIn } from './arithmetic-names.ts';
import { noteSet } from './assignments.ts';
import { callsItself } from './calls-itself.ts';
import type { Doubts } from './doubts.ts';
import { endsOnFailure, isExitCommand } from './exits.ts';
import { type Findings, ReadingTooLong } from './findings.ts';
import { toFoundPaths } from './found-paths.ts';
import { readInside } from './inside-words.ts';
import { parseShell } from './parse-shell.ts';
import { readRedirections, toStdin } from './redirections.ts';
import type { Scope } from './scope.ts';
import type { ShellWord } from './shell-word.ts';
import { readSimpleCommand } from './simple-command.ts';

const UNKNOWN: Stdin = { kind: 'unknown' };
/** Code in code in code, such as `sh -c "sh -c …"`. */
const MAX_NESTED_CODE = 10;

/** What a node of a script reads and where it stands. */
interface Place {
  scope: Scope;
  stdin: Stdin;
}

/** Walks through a script in the order in which it runs. */
export class ShellReader implements NestedReader {
  readonly findings: Findings;
  readonly arithmetic = new ArithmeticUses();
  readonly #doubts: Doubts;
  #depth = 0;
  /** How many substitutions were read. */
  #substitutions = 0;

  constructor(findings: Findings, doubts: Doubts) {
    this.findings = findings;
    this.#doubts = doubts;
  }

  script(text: string, scope: Scope): void {
    this.findings.begin(text);
    const parsed = parseShell(text);
    if (parsed.kind === 'refused') {
      this.findings.addGap(parsed.reason, text);
      return;
    }
    if (this.#depth >= MAX_NESTED_CODE) throw new ReadingTooLong();
    this.#depth += 1;
    this.findings.inShell(() => this.#script(parsed.script, { scope, stdin: UNKNOWN }));
    this.#depth -= 1;
  }

  words(words: readonly ShellWord[], place: { scope: Scope; stdin: Stdin; startedBy: string }): void {
    if (words.length === 0) return;
    if (this.#depth >= MAX_NESTED_CODE) throw new ReadingTooLong();
    for (const { value, written } of words) if (value === undefined) this.findings.addGap('unknown_words', written);
    const { startedBy, scope } = place;
    const folder = scope.folder === undefined ? {} : { folder: scope.folder };
    this.findings.addCommand({ words, assignments: [], redirections: [], startedBy, ...folder });
    this.#depth += 1;
    runProgram(words, { ...place, findings: this.findings, arithmetic: this.arithmetic, reader: this });
    this.#depth -= 1;
  }

  #script(script: ParsedScript, place: Place): void {
    for (const { message, pos } of script.errors ?? []) this.findings.addGap('not_parsed', `${message} (${pos})`);
    this.#statements(script.commands, place);
  }

  #statements(statements: readonly Statement[], { scope, stdin }: Place): void {
    // The commands of a list share their input: one may read its beginning, and another finds the rest.
    const place = { scope, stdin: statements.length > 1 ? UNKNOWN : stdin };
    for (const { command, background } of statements) {
      const before = scope.folder;
      this.#read(command, background ? { ...place, scope: scope.fork() } : place);
      // Unless the script ends when it cannot change the folder, it may still be in the old one.
      if (scope.folder !== before && (this.#doubts.mayEndLine || !endsOnFailure(command, this.findings)))
        scope.folder = undefined;
    }
  }

  #setter(scope: Scope): { findings: Findings; arithmetic: ArithmeticUses; scope: Scope } {
    return { findings: this.findings, arithmetic: this.arithmetic, scope };
  }

  /** Everything that runs while words are expanded. */
  #inside(node: SyntaxNode, { scope }: Pick<Place, 'scope'>): void {
    readInside(node, {
      ...this.#setter(scope),
      substitution: (script) => {
        this.#substitutions += 1;
        this.#script(script, { scope: scope.fork(), stdin: UNKNOWN });
      },
    });
  }

  #read(node: SyntaxNode, place: Place): void {
    switch (node.type) {
      case 'Command':
        this.#command(node, place);
        return;
      case 'AndOr':
        this.#andOr(node, place);
        return;
      case 'Pipeline':
        this.#pipeline(node, place);
        return;
      case 'Redirected':
        this.#redirected(node, place);
        return;
      case 'Function':
        this.#function(node, place);
        return;
      default:
        this.#compound(node, place);
    }
  }

  #compound(node: SyntaxNode, place: Place): void {
    switch (node.type) {
      case 'CompoundList':
        this.#statements(node.commands, place);
        return;
      case 'Subshell':
        this.#statements(node.body.commands, { ...place, scope: place.scope.fork() });
        return;
      case 'BraceGroup':
        this.#statements(node.body.commands, place);
        return;
      case 'If':
        this.#if(node, place);
        return;
      case 'Case':
        this.#case(node, place);
        return;
      case 'Coproc':
        if (node.name) noteSet(node.name.text, true, this.#setter(place.scope));
        if (node.name) this.arithmetic.makeArray(node.name.text);
        this.#read(node.body, { scope: place.scope.fork(), stdin: UNKNOWN });
        return;
      default:
        this.#loop(node, place);
    }
  }

  #loop(node: SyntaxNode, place: Place): void {
    switch (node.type) {
      case 'For':
      case 'Select':
        this.#for(node, place);
        return;
      case 'ArithmeticFor':
        this.#arithmeticFor(node, place);
        return;
      case 'While':
        this.#later([node.clause, node.body], place);
        return;
      case 'TestCommand':
        this.#inside(node, place);
        return;
      case 'ArithmeticCommand':
        for (const name of namesSetIn(node.expression)) noteSet(name, true, this.#setter(place.scope));
        this.#inside(node, place);
        return;
      default:
        this.findings.addGap('not_parsed', node.type);
    }
  }

  #command(node: Command, place: Place): void {
    const before = this.#substitutions;
    for (const each of [node.name, ...node.prefix, ...node.suffix]) if (each) this.#inside(each, place);
    const read = readSimpleCommand(node, { ...place, findings: this.findings, arithmetic: this.arithmetic });
    if (read.words.length === 0) return;
    const { findings, arithmetic } = this;
    const stdin = this.#substitutions > before ? UNKNOWN : read.stdin; // a substitution may have read some of it
    runProgram(read.words, { findings, arithmetic, reader: this, scope: place.scope, stdin });
  }

  #andOr({ commands, operators }: AndOr, place: Place): void {
    const { scope } = place;
    const was = scope.isConditional;
    const start = scope.folder;
    const inside = commands.length > 1 ? { scope, stdin: UNKNOWN } : place; // as in #statements
    commands.forEach((command, index) => {
      if (index > 0) scope.isConditional = true;
      const isExit = index > 0 && index === commands.length - 1 && isExitCommand(command, this.findings);
      // Behind || the change of the folder may have failed.
      if (operators[index - 1] === '||' && scope.folder !== start && !isExit) scope.folder = undefined;
      this.#read(command, inside);
    });
    scope.isConditional = was;
  }

  #pipeline({ commands, prefixes }: Pipeline, place: Place): void {
    const [only, ...more] = commands;
    const { scope } = place;
    if (only !== undefined && more.length === 0) {
      const before = scope.folder;
      this.#read(only, place);
      const isNegated = prefixes.some(({ type }) => type === 'Negation');
      if (isNegated && scope.folder !== before) scope.folder = undefined;
      return;
    }
    commands.forEach((command, index) => {
      this.#read(command, {
        scope: scope.fork(),
        stdin: index === 0 || this.findings.functions.has('find') ? UNKNOWN : toFoundPaths(commands[index - 1]),
      });
    });
  }

  #redirected({ command, redirects }: Redirected, place: Place): void {
    const before = this.#substitutions;
    for (const each of redirects) this.#inside(each, place);
    readRedirections(redirects, this.#setter(place.scope));
    const isRead = this.#substitutions > before; // as in #command
    this.#read(command, { ...place, stdin: isRead ? UNKNOWN : toStdin(redirects, place.stdin) });
  }

  #if({ clause, then, elif, else: otherwise }: If, { scope }: Place): void {
    const place = { scope, stdin: UNKNOWN };
    this.#statements(clause.commands, place);
    const lists = [then, ...elif.flatMap((each) => [each.clause, each.then]), ...(otherwise ? [otherwise] : [])];
    this.#branches(lists, place);
  }

  #case({ word, items }: Case, place: Place): void {
    this.#inside(word, place);
    for (const each of items.flatMap(({ pattern }) => pattern)) this.#inside(each, place);
    this.#branches(
      items.map(({ body }) => body),
      place,
    );
  }

  /** Lists of which any may run, after any other. */
  #branches(lists: readonly CompoundList[], { scope }: Pick<Place, 'scope'>): void {
    const before = scope.folder;
    for (const list of lists) {
      const branch = scope.fork();
      branch.isConditional = true;
      this.#statements(list.commands, { scope: branch, stdin: UNKNOWN });
      if (branch.folder !== before) scope.folder = undefined;
    }
  }

  #for(node: For | Select, place: Place): void {
    for (const word of node.wordlist ?? []) this.#inside(word, place);
    const values = node.wordlist ?? [];
    const isNumber = values.length > 0 && values.every(({ text }) => isNumberText(text));
    noteSet(node.name.value, isNumber, this.#setter(place.scope));
    this.#later([node.body], place);
  }

  #arithmeticFor({ initialize, test, update, body }: ArithmeticFor, place: Place): void {
    for (const each of [initialize, test, update]) if (each) this.#inside(each, place);
    for (const name of namesSetIn(initialize)) noteSet(name, true, this.#setter(place.scope));
    this.#later([body], place);
  }

  /** Lists that may run several times, or from elsewhere. */
  #later(lists: readonly CompoundList[], { scope }: Pick<Place, 'scope'>): void {
    this.findings.readsLater = true;
    if (this.#doubts.folderVaries) scope.folder = undefined;
    this.#branches(lists, { scope });
  }

  #function({ name, body }: FunctionNode, { scope }: Place): void {
    const inside = scope.fork();
    this.findings.readsLater = true;
    if (this.#doubts.folderVaries) inside.folder = undefined;
    inside.isConditional = true;
    const before = inside.folder;
    this.#read(body, { scope: inside, stdin: UNKNOWN });
    if (inside.folder !== before) scope.folder = undefined;
    this.findings.functions.add(name.value);
    // One that calls itself may start processes without end.
    if (callsItself(name.value, body)) this.findings.addEffect({ kind: 'process', target: name.value, certain: true });
    if (!scope.isConditional) scope.functions.add(name.value);
  }
}
