/** 32 bytes in base64; the same for all instances. */
export const TEST_ENCRYPTION_KEY = Buffer.alloc(32, 'k').toString('base64');
