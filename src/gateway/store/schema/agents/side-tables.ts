import type { BackgroundTables } from '../background/background-schema.ts';
import type { ChannelTables } from '../channels/channel-schema.ts';
import type { PushTables } from '../channels/push-schema.ts';
import type { ConsentTables } from '../consents/consent-schema.ts';
import type { CoordinatorTables } from '../coordinators/coordinator-schema.ts';
import type { SubAgentMessageTable, SubAgentTable } from './sub-agent-schema.ts';

/** The tables of what goes on beside a conversation. */
export interface SideTables extends BackgroundTables, ChannelTables, ConsentTables, CoordinatorTables, PushTables {
  sub_agents: SubAgentTable;
  sub_agent_messages: SubAgentMessageTable;
}
