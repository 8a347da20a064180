import type { ArithmeticExpression } from 'unbash';

/** Variables that an arithmetic expression sets, to numbers. */
export function namesSetIn(node: ArithmeticExpression | undefined): string[] {
  const names: string[] = [];
  const stack = node === undefined ? [] : [node];
  for (let each = stack.pop(); each !== undefined; each = stack.pop()) {
    if (each.type === 'ArithmeticBinary') {
      const isSet = /^([-+*/%&|^]|<<|>>)?=$/.test(each.operator);
      if (isSet && each.left.type === 'ArithmeticWord' && /^\w+$/.test(each.left.value)) names.push(each.left.value);
      stack.push(each.left, each.right);
    } else if (each.type === 'ArithmeticGroup') stack.push(each.expression);
  }
  return names;
}
