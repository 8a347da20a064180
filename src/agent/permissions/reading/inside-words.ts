import {
  type ArithmeticExpression,
  forEachChild,
  type ParameterExpansionPart,
  type ParsedScript,
  type SyntaxNode,
} from 'unbash';
import { isCertainValue } from './ansi-c-quotes.ts';
import { type ArithmeticUses, useArithmetic } from './arithmetic.ts';
import { namesSetIn } from './arithmetic-names.ts';
import { noteSet } from './assignments.ts';
import type { Findings } from './findings.ts';
import type { Scope } from './scope.ts';

interface InsideReader {
  findings: Findings;
  arithmetic: ArithmeticUses;
  scope: Scope;
  /** Reads the script of a substitution. */
  substitution(script: ParsedScript): void;
}

/** Finds everything that runs while words are expanded: substitutions, wherever they are, and arithmetic. */
export function readInside(node: SyntaxNode, reader: InsideReader): void {
  const stack: SyntaxNode[] = [node];
  for (let each = stack.pop(); each !== undefined; each = stack.pop()) {
    // Parts are parsed when they are visited, so the effort is counted before.
    reader.findings.spend(each.end - each.pos);
    if (each.type === 'Script') {
      reader.substitution(each);
      continue;
    }
    checkNode(each, reader);
    forEachChild(each, (child) => void stack.push(child));
  }
}

function checkNode(node: SyntaxNode, reader: InsideReader): void {
  switch (node.type) {
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      if (node.script === undefined) reader.findings.addGap('not_parsed', node.text);
      return;
    case 'ParameterExpansion':
      checkParameter(node, reader);
      return;
    case 'Assignment':
      if (node.index !== undefined) useArithmetic(reader, node.index.value);
      return;
    case 'HereDoc':
      // What follows may be a command instead of text.
      if (node.delimiter && !isCertainValue(node.delimiter)) reader.findings.addGap('not_parsed', node.delimiter.text);
      return;
    default:
      checkArithmetic(node, reader);
  }
}

/** Everything that bash evaluates as arithmetic. */
function checkArithmetic(node: SyntaxNode, reader: InsideReader): void {
  switch (node.type) {
    case 'ArithmeticCommandExpansion':
      reader.findings.addGap('arithmetic', node.text); // variables in the output are evaluated, too
      return;
    case 'ArithmeticWord':
      useArithmetic(reader, node.value);
      return;
    case 'ArithmeticExpansion':
      reader.findings.mayEndLine = true;
      noteNumbers(node.expression, reader);
      if (node.expression === undefined && /\w/.test(node.text)) reader.findings.addGap('not_parsed', node.text);
      return;
    case 'TestBinary':
      if (!/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)) return;
      for (const { value } of [node.left, node.right]) useArithmetic(reader, value);
      return;
    case 'TestUnary':
      if (node.operator === '-v' && !/^\w+$/.test(node.operand.value)) useArithmetic(reader, node.operand.value);
      return;
    default:
      return;
  }
}

const noteNumbers = (expression: ArithmeticExpression | undefined, reader: InsideReader): void =>
  namesSetIn(expression).forEach((name) => {
    noteSet(name, true, reader);
  });

/** What bash expands whatever the variable holds. Others may be errors that skip the rest of the line, as `${1:=x}` and `${}`. */
const NEVER_FAILS = /^\$\{#?([A-Za-z_]\w*(\[[@*]\])?|[\d@*#?$!-])\}$/;

function checkParameter(node: ParameterExpansionPart, reader: InsideReader): void {
  const { index, prefix, operation, text } = node;
  if (!NEVER_FAILS.test(text)) reader.findings.mayEndLine = true;
  const isWholeArray = index !== undefined && /^[@*]$/.test(index.value);
  if (index !== undefined && !isWholeArray) useArithmetic(reader, index.value);
  if (prefix === '!' && operation?.type !== 'Names' && !isWholeArray) reader.findings.addGap('arithmetic', text);
  checkOperation(node, reader);
}

function checkOperation({ operation, parameter, index, text }: ParameterExpansionPart, reader: InsideReader): void {
  switch (operation?.type) {
    case 'Slice':
      useArithmetic(reader, operation.offset.value);
      if (operation.length) useArithmetic(reader, operation.length.value);
      return;
    case 'Default':
      if (!/^:?=$/.test(operation.operator)) return;
      noteSet(parameter, false, reader);
      if (index !== undefined) reader.arithmetic.makeArray(parameter);
      return;
    case 'Transform':
      // `@P` expands the value as a prompt, with its substitutions.
      if (operation.operand.value.includes('P')) reader.findings.addGap('unknown_code', text);
      return;
    case 'Unknown':
      reader.findings.addGap('not_parsed', text);
  }
}
