import { GatewayError } from '../../../../protocol/errors.ts';
import type { policyContracts } from '../../../../protocol/methods/admin/policy.ts';
import type { Handlers } from '../../call.ts';
import type { CallsDeps } from '../../policies/latest-calls.ts';
import { checkAction, checkPattern } from '../../policies/policy-input.ts';
import { simulate } from '../../policies/simulate.ts';
import type { ToolPolicies } from '../../policies/tool-policies.ts';
import { ANYONE } from '../../sharing/perception.ts';
import { checkName } from '../../templates/template-input.ts';
import { editorOf } from '../templates/template.ts';

interface PolicyMethodDeps extends CallsDeps {
  policies: ToolPolicies;
}

export const policyMethods = ({
  policies,
  store,
  messages,
}: PolicyMethodDeps): Handlers<keyof typeof policyContracts> => ({
  'policy.list': () => ({ policies: [...policies.list()] }),
  'policy.create': ({ name = '', toolPattern = '', action, priority = 0, enabled = true }, call) => {
    const fields = {
      name: checkName(name),
      toolPattern: checkPattern(toolPattern),
      action: checkAction(action),
      priority,
      enabled,
    };
    return policies.create(fields, { by: editorOf(call), also: (id) => call.audited({ id, ...fields }) });
  },
  'policy.update': ({ policyId, name, toolPattern, action, priority, enabled }, call) => {
    const change = {
      ...(name !== undefined && { name: checkName(name) }),
      ...(toolPattern !== undefined && { toolPattern: checkPattern(toolPattern) }),
      ...(action !== undefined && { action: checkAction(action) }),
      ...(priority !== undefined && { priority }),
      ...(enabled !== undefined && { enabled }),
    };
    if (Object.keys(change).length === 0) throw new GatewayError('INVALID_REQUEST', 'No fields to update');
    return policies.update(policyId, change, (before) => call.audited({ policy: before.name, ...change }));
  },
  'policy.delete': async ({ policyId }, call) => {
    await policies.remove(policyId, ({ name, toolPattern, action }) => call.audited({ name, toolPattern, action }));
    return { status: 'ok' };
  },
  'policy.simulate': ({ policies: asked = policies.list(), limit = USUAL_CALLS }, { principal = ANYONE, signal }) =>
    simulate({ store, messages }, { policies: asked, limit, viewer: principal, signal }),
});

const USUAL_CALLS = 200;
