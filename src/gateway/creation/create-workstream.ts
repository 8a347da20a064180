import { toLabels } from '../../../protocol/cluster/machine-labels.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { isWide } from '../../../protocol/events/modes.ts';
import type { Params, Result } from '../../../protocol/index.ts';
import { wrongField } from '../../../protocol/parse.ts';
import type { Attachments } from '../attachments/attachments.ts';
import type { StagedFiles } from '../attachments/staged-files.ts';
import { type Call, keptOf } from '../call.ts';
import { callerOf, namerOf, requireApproveFor } from '../caller.ts';
import { unknownNode } from '../cluster/node-ids.ts';
import type { Coordinators } from '../coordinators/coordinators.ts';
import type { LiveSettings } from '../live-settings.ts';
import { requirePermission } from '../required-rights.ts';
import { holds } from '../rights.ts';
import type { Runs } from '../runs/runs.ts';
import { DAEMON, newlyOwned, viewerOf } from '../sharing/perception.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import type { Statement } from '../store/store.ts';
import type { Beginning, Templates } from '../templates/templates.ts';
import { storeBudget } from '../usage/budget-rows.ts';
import type { Budgets } from '../usage/budgets.ts';
import { Elsewhere } from '../workers/elsewhere.ts';
import type { Placement } from '../workers/team.ts';
import { type Always, type AlwaysRules, isFull, isGranted } from '../workstreams/always.ts';
import type { Settings } from '../workstreams/settings.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { isShortPrefix } from '../workstreams/workstream-rows.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

/** What creating a workstream needs. */
export interface CreationDeps {
  workstreams: Workstreams;
  runs: Runs;
  settings: Settings;
  always: Pick<AlwaysRules, 'grant'>;
  attachments: Pick<Attachments, 'claim'> & { staged: Pick<StagedFiles, 'adopt'> };
  templates: Pick<Templates, 'begin'>;
  budgets: Pick<Budgets, 'apply'>;
  coordinators: Pick<Coordinators, 'get' | 'underParent'>;
  live: Pick<LiveSettings, 'visibility'>;
  placement: Placement;
  /** This machine. */
  nodeId: string;
}

type Asked = Params<'workstream.create'>;
type Created = Result<'workstream.create'>;

/** Creates a workstream, or reopens a stored one, and sends its first message. */
export async function createWorkstream(params: Asked, call: Call, deps: CreationDeps): Promise<Created> {
  const { autoApprove, autoApproveTools: tools = [], resumeWs, wsTemplate, skill, mode, fileIds = [] } = params;
  const { kind = 'interactive' } = params;
  requireApproveFor(autoApprove || tools.length > 0 || isWide(mode), call);
  const kept = keptOf<Created>(call);
  if (kept) return kept;
  if (resumeWs && fileIds.length > 0)
    throw new GatewayError('INVALID_REQUEST', 'Files are not possible with resume_ws');
  const template = resumeWs ? undefined : params.template;
  const begun = await deps.templates.begin({ template, wsTemplate, skill, kind });
  const resumed = resumeWs ? await deps.workstreams.reopen(resumeWs, viewerOf(call)) : undefined;
  if (!resumed && resumeWs && isShortPrefix(resumeWs))
    throw wrongField('resumeWs', 'the beginning of an id has at least 3 characters');
  if (!resumed) return createNew(params, call, { begun, deps });
  const { workstream, wasOpen } = resumed;
  const always = alwaysOf(params, call, deps);
  if (always && !wasOpen) await deps.settings.change(workstream, { always }, recordOf(always, workstream.data, call));
  const { wsId, name, messageCount } = workstream.data;
  const answer: Created = { wsId, name, resumed: true, messageCount };
  return isSaid(params) ? sendFirst(workstream, { answer, params, call }, deps) : answer;
}

const recordOf = (always: Always, { wsId }: { wsId: string }, call: Call): Statement[] => {
  const { tools, mode } = always;
  return call.audited({
    id: wsId,
    autoApprove: isFull(always),
    ...(tools && { autoApproveTools: tools }),
    ...(mode && { mode }),
  });
};

const isSaid = ({ initialMessage = '' }: Asked): boolean => initialMessage.trim() !== '';

/** Approval of everything includes that of some tools. */
function alwaysOf(
  {
    autoApprove,
    autoApproveTools = [],
    mode,
  }: Pick<Asked, 'autoApprove' | 'mode'> & { autoApproveTools?: readonly string[] | undefined },
  call: Call,
  { always }: Pick<CreationDeps, 'always'>,
): Always | undefined {
  const { principal } = callerOf(call);
  if (autoApprove || mode === 'full') return always.grant(principal);
  if (autoApproveTools.length > 0) return always.grant(principal, { tools: [...new Set(autoApproveTools)] });
  return isGranted(mode) ? always.grant(principal, { mode }) : undefined;
}

/** Both may let calls run without asking; neither takes away what the other allows. */
const allowedBy = ({ autoApprove, autoApproveTools = [], mode }: Asked, begun: Beginning) => ({
  mode,
  autoApprove: autoApprove || begun.autoApprove,
  autoApproveTools: [...autoApproveTools, ...begun.autoApproveTools],
});

/** Settings of a workstream template win over those of the request. */
async function createNew(
  params: Asked,
  call: Call,
  { begun, deps }: { begun: Beginning; deps: CreationDeps },
): Promise<Created> {
  requireApproveFor(begun.autoApprove || begun.autoApproveTools.length > 0, call);
  const { name, model, workdir, wsId: newId, judgeModel, visibility, fileIds = [], kind = 'interactive' } = params;
  giveAway(params, deps);
  const { workstreams, budgets, attachments, live } = deps;
  const parent = await parentOf(params, call, deps.coordinators);
  const files = attachments.staged.adopt(callerOf(call).principal, fileIds);
  const made = ({ ws_id: wsId, alias, generated_name, machine }: WorkstreamTable): Created => ({
    wsId,
    name: alias ?? generated_name,
    resumed: false,
    messageCount: 0,
    ...(fileIds.length > 0 && { attachmentIds: fileIds }),
    ...(machine !== null && { nodeId: machine }),
  });
  const always = alwaysOf(allowedBy(params, begun), call, deps);
  const options = {
    owned: newlyOwned(viewerOf(call), live, visibility),
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model }),
    ...(begun.model !== undefined && { model: begun.model }),
    always,
    isReadOnly: params.mode === 'read_only',
    effort: begun.effort,
    ...(workdir !== undefined && { workdir, by: namerOf(call) }),
    wsId: newId,
    judgeModel,
    machineLabels: toLabels(params.machineLabels ?? []),
    kind,
    parentWsId: parent?.wsId,
  };
  const { budget } = begun;
  let answer: Created | undefined;
  const create = () =>
    workstreams.create(options, (row): Statement[] => {
      answer = made(row);
      return [
        // With a message, the call has its effect only when that is accepted.
        ...(isSaid(params) ? [] : call.keep(answer)),
        ...begun.statementsFor(row.ws_id),
        ...files.statementsFor(row.ws_id),
        ...(always ? recordOf(always, { wsId: row.ws_id }, call) : []),
        ...(budget ? [storeBudget(row.ws_id, budget)] : []),
      ];
    });
  const workstream = await (parent ? deps.coordinators.underParent(parent, { kind, wsId: newId }, create) : create());
  files.settle();
  const { wsId } = workstream.data;
  if (budget) budgets.apply(wsId, budget);
  if (!answer) throw new Error('the statements of a new workstream were not asked for');
  if (!isSaid(params)) return answer;
  try {
    return await sendFirst(workstream, { answer, params, call }, deps);
  } catch (error) {
    await workstreams.remove(wsId, DAEMON); // what is half done would be taken for done
    throw error;
  }
}

/** Throws Elsewhere if another machine is to make it. */
function giveAway(params: Asked, { placement, nodeId }: Pick<CreationDeps, 'placement' | 'nodeId'>): void {
  const { nodeId: asked, fileIds = [] } = params;
  if (asked !== undefined && asked !== nodeId && !placement.has(asked)) throw unknownNode();
  const machine = asked ?? chooseMachine(params, { placement, nodeId });
  if (machine === undefined) return;
  placement.requireLabels(machine, toLabels(params.machineLabels ?? []));
  if (machine === nodeId) return;
  if (fileIds.length > 0)
    throw new GatewayError('INVALID_REQUEST', 'Files are not possible with a worker: create it, then send them');
  throw new Elsewhere(machine);
}

/** What names files of this daemon or a coordinator stays with them; and what names a folder, if this machine has its labels. */
function chooseMachine(
  { machineLabels = [], workdir, fileIds = [], kind, parentWsId }: Asked,
  { placement, nodeId }: Pick<CreationDeps, 'placement' | 'nodeId'>,
): string | undefined {
  if (fileIds.length > 0 || kind !== undefined || parentWsId !== undefined) return nodeId;
  return placement.choose(toLabels(machineLabels), { isHereFirst: workdir !== undefined });
}

/** The coordinator that it is to work for. Coordinators and what works for them are made only by those who may coordinate. */
async function parentOf(
  { kind = 'interactive', parentWsId }: Asked,
  call: Call,
  coordinators: CreationDeps['coordinators'],
): Promise<WorkstreamData | undefined> {
  if (kind === 'interactive' && parentWsId === undefined) return undefined;
  if (!call.principal || !holds(call.principal.scopes, 'approve'))
    throw new GatewayError('FORBIDDEN', 'kind and parentWsId need the approve scope');
  requirePermission(call.principal, 'admin.coordinator');
  return parentWsId === undefined ? undefined : (await coordinators.get(parentWsId, viewerOf(call))).data;
}

/** Sends the first message, with the files of the request. In a workstream that is busy, it waits. */
async function sendFirst(
  workstream: Workstream,
  { answer, params, call }: { answer: Created; params: Asked; call: Call },
  { runs, attachments }: CreationDeps,
): Promise<Created> {
  const { initialMessage = '', fileIds = [], idempotencyKey } = params;
  const by = callerOf(call);
  const claim = await attachments.claim({ wsId: workstream.data.wsId, principal: by.principal }, { ids: fileIds });
  const answerTo = (runId: string, { busy, queue }: Workstream): Created => ({
    ...answer,
    initialMessage: { status: busy || queue.length > 0 ? 'queued' : 'ok', runId },
  });
  let sent: Created | undefined;
  await runs.accept(workstream, {
    message: initialMessage.trim(),
    claim,
    ...by,
    ...(idempotencyKey !== undefined && { key: idempotencyKey }),
    source: 'person',
    also(runId, to) {
      sent = answerTo(runId, to);
      return call.keep(sent);
    },
  });
  if (!sent) throw new Error('the statements of a message were not asked for');
  return sent;
}
