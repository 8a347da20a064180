import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';

interface Caller {
  /** As the operator. */
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
}

/** A successful call of each method about tool policies. None of them matches a tool that exists. */
export function policyCases({ call }: Caller) {
  const newPolicy = async () =>
    (await call('policy.create', { name: 'never', toolPattern: 'no_such_tool', action: 'deny' })).policyId;

  return {
    ...ruleCases(call),
    'policy.list': () => call('policy.list', {}),
    'policy.create': () => newPolicy(),
    'policy.update': async () => call('policy.update', { policyId: await newPolicy(), enabled: false }),
    'policy.delete': async () => call('policy.delete', { policyId: await newPolicy() }),
    'policy.simulate': () =>
      call('policy.simulate', { policies: [{ toolPattern: '*', action: 'ask', priority: 0, enabled: true }] }),
  };
}

function ruleCases(call: Caller['call']) {
  const newRule = async () =>
    (await call('rule.create', { action: 'deny', match: { program: 'no_such_program' } })).ruleId;
  return {
    'rule.list': () => call('rule.list', {}),
    'rule.create': () => call('rule.create', { action: 'ask', match: { host: 'example.org' }, expiresInMs: 60_000 }),
    'rule.update': async () => call('rule.update', { ruleId: await newRule(), priority: 3 }),
    'rule.delete': async () => call('rule.delete', { ruleId: await newRule() }),
    'rule.simulate': () => call('rule.simulate', { add: [{ action: 'deny', match: { tool: 'no_such_tool' } }] }),
  };
}

/** A successful call of each method about encrypted secrets, and about the daemon as a program. */
export const secretsCases = ({ call }: Caller) => ({
  'daemon.restart': () => call('daemon.restart', { check: true }),
  'secrets.status': () => call('secrets.status', {}),
  'secrets.rotate': () => call('secrets.rotate', {}),
});
