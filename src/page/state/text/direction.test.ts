import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directionOf } from './direction.ts';

test('the first letter gives the direction, whatever stands before it', () => {
  const texts = ['- 1. عنصر one', '> שלום', 'one عنصر', '日本', '12 ?', '𞤀𞤣𞤤𞤢𞤥'];
  assert.deepEqual(texts.map(directionOf), ['rtl', 'rtl', 'ltr', 'ltr', 'ltr', 'rtl']);
});
