import type { Attachments } from '../attachments/attachments.ts';
import type { EventLog } from '../events/event-log.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Messages } from '../history/messages.ts';
import type { Budgets } from '../usage/budgets.ts';
import type { createLearnedWindows } from '../usage/learned-windows.ts';
import { Compactions } from './compactions.ts';

type OfDaemon = Pick<GatewayDeps, 'store' | 'models' | 'toolbox' | 'clock' | 'ids' | 'log'>;

interface OfConversations {
  messages: Messages;
  attachments: Pick<Attachments, 'readForModel'>;
  windows: ReturnType<typeof createLearnedWindows>;
  budgets: Budgets;
  events: EventLog;
}

/** Compactions with what they need of the stored parts of conversations. */
export function createCompactions(
  { store, models, toolbox, clock, ids, log }: OfDaemon,
  { messages, attachments, windows, budgets, events }: OfConversations,
): Compactions {
  return new Compactions({
    store,
    messages,
    models,
    windows,
    toolbox,
    attachments,
    budgets,
    events,
    clock,
    ids,
    log,
  });
}
