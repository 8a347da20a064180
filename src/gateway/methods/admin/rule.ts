import { GatewayError } from '../../../../protocol/errors.ts';
import type { Rule, ruleContracts } from '../../../../protocol/methods/admin/rule.ts';
import type { Call, Handlers } from '../../call.ts';
import { mayApprove } from '../../caller.ts';
import type { CallsDeps } from '../../policies/latest-calls.ts';
import { requireGiver } from '../../rules/rule-givers.ts';
import { checkFolder, checkMatch } from '../../rules/rule-input.ts';
import { toRuleRecord } from '../../rules/rule-record.ts';
import { type Rules, ruleMissing } from '../../rules/rules.ts';
import { simulateRules } from '../../rules/simulate-rules.ts';
import { visibleRules } from '../../rules/visible-rules.ts';
import { viewerOf } from '../../sharing/perception.ts';
import { unknownWorkstream } from '../../workstreams/session-keys.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';
import { editorOf } from '../templates/template.ts';

interface RuleMethodDeps extends CallsDeps {
  rules: Rules;
  workstreams: Pick<Workstreams, 'isStored'>;
}

export function ruleMethods(deps: RuleMethodDeps): Handlers<keyof typeof ruleContracts> {
  const { rules, store } = deps;
  return {
    'rule.list': async ({ wsId }, call) => {
      if (wsId !== undefined) await requirePerceived(wsId, call, deps);
      const visible = await visibleRules(rules.list(), viewerOf(call), store);
      return { rules: visible.filter((rule) => wsId === undefined || rule.wsId === wsId) };
    },
    'rule.create': async ({ match, folder, expiresInMs, ...params }, call) => {
      const place = { ...params, ...(folder !== undefined && { folder: await checkFolder(folder) }) };
      if (place.wsId !== undefined) await requirePerceived(place.wsId, call, deps);
      requireDecider(place, call);
      const { action, wsId, userId, priority } = params;
      requireRank({ action, priority }, call);
      const fields = {
        action,
        match: await checkMatch(match),
        ...(wsId !== undefined && { wsId }),
        ...(place.folder !== undefined && { folder: place.folder }),
        ...(userId !== undefined && { userId }),
        ...(priority !== undefined && { priority }),
      };
      return rules.create({ ...fields, lastsMs: expiresInMs, by: editorOf(call) }, (rule) =>
        call.audited(toRuleRecord(rule)),
      );
    },
    'rule.update': async ({ ruleId, action, priority, expiresInMs }, call) => {
      const before = await visibleRule(ruleId, call, deps);
      requireDecider(before, call);
      requireAuthor(before, call);
      requireRank({ action: action ?? before.action, priority: priority ?? before.priority }, call);
      const change = {
        ...(action !== undefined && { action }),
        ...(priority !== undefined && { priority }),
        ...(expiresInMs !== undefined && { lastsMs: expiresInMs }),
      };
      if (Object.keys(change).length === 0) throw new GatewayError('INVALID_REQUEST', 'No fields to update');
      return rules.update(ruleId, change, call.audited(change));
    },
    'rule.delete': async ({ ruleId }, call) => {
      const before = await visibleRule(ruleId, call, deps);
      requireDecider(before, call);
      requireAuthor(before, call);
      await rules.remove(before, call.audited(toRuleRecord(before)));
      return { status: 'ok' };
    },
    'rule.simulate': async ({ add = [], without = [], limit = USUAL_CALLS }, call) => {
      const known = await visibleRules(rules.list(), viewerOf(call), store);
      const added = await Promise.all(
        add.map(async ({ folder, ...rule }) => ({
          ...rule,
          match: await checkMatch(rule.match),
          ...(folder !== undefined && { folder: await checkFolder(folder) }),
        })),
      );
      const kept = known.filter(({ ruleId }) => !without.includes(ruleId));
      return simulateRules(deps, { rules: kept, added, limit, viewer: viewerOf(call), signal: call.signal });
    },
  };
}

const USUAL_CALLS = 200;

async function requirePerceived(wsId: string, call: Call, { workstreams }: Pick<RuleMethodDeps, 'workstreams'>) {
  if (!(await workstreams.isStored(wsId, viewerOf(call)))) throw unknownWorkstream();
}

const isAdmin = (call: Call): boolean => viewerOf(call).permissions.has('admin.policies');

/** Nobody allows themselves what a rule or tool policy for everybody asks about. Those have the priority 0, if no other is given. */
function requireRank(
  { action, priority = 0 }: Pick<Rule, 'action'> & { priority?: number | undefined },
  call: Call,
): void {
  if (action !== 'allow' || priority <= 0 || isAdmin(call)) return;
  throw new GatewayError('FORBIDDEN', 'Rules that allow, with a priority above 0, need the permission admin.policies');
}

/** What others forbid a user, or want to be asked about, is not theirs to lift. */
function requireAuthor({ action, userId, createdBy }: Rule, call: Call): void {
  if (action === 'allow' || userId === undefined || createdBy === editorOf(call) || isAdmin(call)) return;
  throw new GatewayError('FORBIDDEN', 'Rules that others made about a user need the permission admin.policies');
}

/** Rules about one workstream or oneself need what `always` needs; all others need `admin.policies`. */
function requireDecider(place: Pick<Rule, 'wsId' | 'folder' | 'userId'>, call: Call): void {
  requireGiver(viewerOf(call), place);
  if (!isAdmin(call) && !mayApprove(call))
    throw new GatewayError('FORBIDDEN', "Rules need the permission 'approve' or 'tools.approve'");
}

async function visibleRule(ruleId: string, call: Call, { rules, store }: RuleMethodDeps): Promise<Rule> {
  const found = rules.find(ruleId);
  const [visible] = found ? await visibleRules([found], viewerOf(call), store) : [];
  if (visible === undefined) throw ruleMissing();
  return visible;
}
