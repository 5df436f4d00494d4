package dev.fencepost.operations;

/** All use cases, as commands and HTTP take them. */
public record Operations(
    StatusQuery status,
    ActivityQuery activities,
    ReviewDesk reviews,
    DeadLetterDesk deadLetters,
    OutboxDesk outbox,
    AuditStore audit) {}
