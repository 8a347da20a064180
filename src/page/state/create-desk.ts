import { computed, type ReadonlySignal } from '@preact/signals';
import { systemTimers } from '../../../protocol/client/timers.ts';
import type { Confirmation } from './accounts/confirmation.ts';
import type { HeldRights } from './accounts/held-rights.ts';
import { Owners } from './accounts/owners.ts';
import { isUser, type Who } from './accounts/who.ts';
import { createActions } from './actions.ts';
import type { Browser } from './browser.ts';
import { createChips } from './chips.ts';
import { CronJobs } from './cron/cron-jobs.ts';
import { Guide } from './first-run/guide.ts';
import { Inbox } from './inbox/inbox.ts';
import { OtherCount } from './inbox/other-count.ts';
import { whatWaits } from './inbox/what-waits.ts';
import { createModelChoices } from './model-choices.ts';
import { Nodes } from './nodes/nodes.ts';
import type { Kept } from './rail/kept.ts';
import { Pins } from './rail/pins.ts';
import { Removals } from './rail/removals.ts';
import { SavedFilters } from './rail/saved-filters.ts';
import type { PageClient } from './reading/reading.ts';
import { Workstreams } from './workstreams.ts';

interface Port {
  browser: Browser;
  kept: Kept;
  client: PageClient;
  confirmation: Confirmation;
  rights: HeldRights;
  who: ReadonlySignal<Who | undefined>;
}

/** Empty: the operator, whose logins have ids of their own. Undefined until it is known. */
const userIdOf = (who: Who | undefined): string | undefined => (isUser(who) ? who?.userId : who && '');

/** The parts of a logged-in page. What waits is followed from the beginning; the others read when they are told to. */
export function createDesk({ browser, kept, client, confirmation, rights, who }: Port) {
  const { schedule, isVisible, memory, lasting, newKey, files, now } = browser;
  const { drafts, filters } = kept;
  const pins = new Pins(lasting);
  const savedFilters = new SavedFilters({ memory: lasting, userId: computed(() => userIdOf(who.value)) });
  const workstreams = new Workstreams({ client, schedule, isVisible, memory, drafts, pins });
  const inbox = new Inbox({ client, now, mayDecide: () => rights.decide.peek() });
  const nodes = new Nodes({ client, mayDecide: () => rights.changeNodes.peek(), now });
  const others = new OtherCount({ client, rights });
  return {
    client,
    workstreams,
    rail: { pins, filters, savedFilters, removals: new Removals({ client, workstreams, timers: systemTimers }) },
    actions: createActions({ client, workstreams, newKey, files, ownId: () => userIdOf(who.peek()) }),
    inbox,
    others,
    /** How much waits for this person. */
    waiting: whatWaits({ workstreams, inbox, nodes, others }),
    jobs: new CronJobs({ client, newKey }),
    nodes,
    owners: new Owners(client),
    now,
    newKey,
    who,
    confirmation,
    chips: createChips({ files, newKey }),
    models: createModelChoices(client),
    guide: new Guide({ client, workstreams, lasting, newKey }),
    files,
  };
}
