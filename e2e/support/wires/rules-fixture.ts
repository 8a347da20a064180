import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRequest, RULES, type Rule, type Wire } from './wire.ts';

/** A request that breaks one rule: the fields that differ from a valid one, and the maker's words. */
export interface BadRequest {
  change: object;
  says: string;
}

const LIMITS = { window: 2_000, images: 2 };

/** Tests that a wire accepts a valid request, and refuses one per rule in the words and the form of its maker. */
export function testRules<Body>(
  wire: Wire<Body>,
  { good, bad, toBody }: { good: object; bad: Partial<Record<Rule, BadRequest>>; toBody(message: string): object },
): void {
  test(`${wire.name}: a valid request is accepted`, () => {
    assert.deepEqual(checkRequest(wire, good, LIMITS), wire.schema.parse(good));
  });
  test(`${wire.name}: every rule has a request that breaks it`, () => {
    assert.deepEqual(new Set(Object.keys(bad)), new Set(['shape', ...Object.keys(wire.checks)]));
  });
  for (const [rule, { change, says }] of Object.entries(bad)) {
    test(`${wire.name}: ${RULES[isRule(rule) ? rule : 'shape']}`, () => {
      const refusal = checkRequest(wire, { ...good, ...change }, LIMITS);
      assert.deepEqual(refusal, { rule, status: 400, body: toBody(says) });
    });
  }
}

const isRule = (name: string): name is Rule => name in RULES;

export const PIXEL = 'iVBORw0KGgo=';
export const LONG = 'word '.repeat(2_000);
