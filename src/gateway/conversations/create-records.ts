import { Attachments } from '../attachments/attachments.ts';
import { Checkpoints } from '../checkpoints/checkpoints.ts';
import { Coordinators } from '../coordinators/coordinators.ts';
import { EventLog } from '../events/event-log.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { createMessages } from '../history/messages.ts';
import { createNotes } from '../history/notes.ts';
import type { Idempotency } from '../idempotency.ts';
import { Judge } from '../judge/judge.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { countTokens } from '../observer.ts';
import { ToolPolicies } from '../policies/tool-policies.ts';
import { Rules } from '../rules/rules.ts';
import { Templates } from '../templates/templates.ts';
import { Budgets } from '../usage/budgets.ts';
import { createLearnedWindows } from '../usage/learned-windows.ts';
import { createSystemEvents } from '../wake/system-events.ts';
import { AlwaysRules } from '../workstreams/always.ts';

/** What the stored parts of conversations need. */
export type RecordDeps = Pick<
  GatewayDeps,
  | 'store'
  | 'models'
  | 'userHome'
  | 'workdirs'
  | 'checkpointFiles'
  | 'clean'
  | 'skills'
  | 'live'
  | 'auth'
  | 'authenticator'
  | 'attachmentFiles'
  | 'pdfText'
  | 'server'
  | 'clock'
  | 'ids'
  | 'log'
>;

interface SharedWithRecords {
  metrics: Metrics;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
  idempotency: Idempotency;
  /** Writes queued frames to clients. */
  flush(): void;
}

/** The stored parts of conversations: logs, messages, files and standing permissions. */
export function createRecords(
  {
    store,
    models,
    userHome,
    workdirs,
    checkpointFiles: files,
    clean,
    skills,
    live,
    auth,
    authenticator,
    attachmentFiles,
    pdfText,
    server: { nodeId },
    clock,
    ids,
    log,
  }: RecordDeps,
  { metrics, stopping, idempotency, flush }: SharedWithRecords,
) {
  const policies = new ToolPolicies({ store, clock, ids });
  const budgets = new Budgets({ store, live, clock, ids });
  const messages = createMessages(store);
  const always = new AlwaysRules({ live, authenticator, clock });
  const templates = new Templates({ store, skills: skills.usable, clock, ids });
  return {
    events: new EventLog({ store, clock, log, onOffered: flush }),
    messages,
    notes: createNotes(store),
    always,
    budgets,
    attachments: new Attachments({ store, files: attachmentFiles, pdfText, idempotency, clock, ids, log }),
    checkpoints: new Checkpoints({ store, files, workdirs, live, clean, clock, ids, log }),
    systemEvents: createSystemEvents({ store, clock }),
    windows: createLearnedWindows({ store, log }),
    templates,
    coordinators: new Coordinators({
      store,
      always,
      authenticator,
      accounts: auth.consents,
      messages,
      templates,
      budgets,
      live,
      nodeId,
      clock,
      ids,
      log,
    }),
    policies,
    rules: new Rules({ store, policies, clock, ids, log }),
    judge: new Judge({
      store,
      models,
      budgets,
      live,
      userHome,
      onUsage: ({ usage }) => countTokens(metrics, usage),
      onVerdict: (verdict) => metrics.modelVerdict(verdict),
      stopping,
      clock,
      ids,
      log,
    }),
  };
}
