/** What most specs need, from one place. */
export * from './browser-session.js';
export * from './factory.js';
export * from './http.js';
export * from './made.js';
export * from './oauth.js';
export * from './portal.js';
export * from './refusals.js';
export * from './set-up.js';
export * from './test-service.js';
export * from './until.js';
export * from './webhooks.js';
