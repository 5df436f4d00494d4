package dev.fencepost.relay;

/** What the relay needs of the world. */
public record RelayPorts(
    OutboxStore outbox,
    LaneStore lanes,
    ParkedRows parked,
    RelayUpkeep upkeep,
    Doorbell doorbell,
    Publisher publisher,
    RelayEvents events) {}
