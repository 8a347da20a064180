import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Model } from '../../agent/providers/model.ts';
import { puppetModels } from '../testing/puppet-model.ts';
import { whyNotModel } from './agent-model.ts';

const FAMILIES = { big: 'one', small: 'one', foreign: 'two' } as const;

const isName = (alias: string): alias is keyof typeof FAMILIES => alias in FAMILIES;

async function modelOf(alias = 'big'): Promise<Model> {
  if (!isName(alias)) throw new GatewayError('INVALID_REQUEST', `Unknown model '${alias}'.`);
  return { ...(await puppetModels().models.resolve()), alias, family: FAMILIES[alias] };
}

const about = { contextWindow: 0, isDefault: false, provider: 'puppet', modelId: 'm' };
const models = { resolve: modelOf, list: () => Object.keys(FAMILIES).map((alias) => ({ ...about, alias })) };

test('a sub-agent may have another model of the same maker, and a refusal lists them', async () => {
  const ask = (alias: string) => whyNotModel(alias, { own: undefined, models });
  assert.equal(await ask('small'), undefined);
  assert.equal(
    await ask('foreign'),
    'The model foreign is of another maker than yours. Models for sub-agents: big, small.',
  );
  assert.equal(await ask('none'), 'There is no model none. Models for sub-agents: big, small.');
});
