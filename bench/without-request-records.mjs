/** Loaded before the service: it then notes no requests for operators (`bench/request-records.mjs`). */
import { load } from './dist.mjs';

const { RequestRecordsService } = await load('records/requests/request-records.service.js');
const { WriteBehind } = await load('platform/database/background/write-behind.js');
RequestRecordsService.prototype.onModuleInit = WriteBehind.prototype.onModuleInit;
