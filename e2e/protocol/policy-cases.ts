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
    'policy.list': () => call('policy.list', {}),
    'policy.create': () => newPolicy(),
    'policy.update': async () => call('policy.update', { policyId: await newPolicy(), enabled: false }),
    'policy.delete': async () => call('policy.delete', { policyId: await newPolicy() }),
    'policy.simulate': () =>
      call('policy.simulate', { policies: [{ toolPattern: '*', action: 'ask', priority: 0, enabled: true }] }),
  };
}

/** A successful call of each method about encrypted secrets. */
export const secretsCases = ({ call }: Caller) => ({
  'secrets.status': () => call('secrets.status', {}),
  'secrets.rotate': () => call('secrets.rotate', {}),
});
