import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findExpression } from './weekly-words.ts';

test('days of the week and times of day have an expression', () => {
  const cases: Record<string, string> = {
    'monday at 9': '0 9 * * 1',
    'Sundays at 18:30': '30 18 * * 0',
    'wed 07:05': '5 7 * * 3',
    'thursday at 12am': '0 0 * * 4',
    'saturday at 6:15 pm': '15 18 * * 6',
    'day at 12pm': '0 12 * * *',
    'weekday at 9': '0 9 * * 1-5',
  };
  for (const [text, expr] of Object.entries(cases)) assert.equal(findExpression(text), expr, text);
});

test('similar texts have none', () => {
  for (const text of [
    '',
    'monday',
    'monday at 24',
    'monday at 13pm',
    'day at 9:60',
    'month at 9',
    'moonday at 9',
    '15m',
  ])
    assert.equal(findExpression(text), undefined, text);
});
