"""What holds in every order of pods and every tie, or an order in which it does not: `topospread.guarantee`."""

from .result import Guarantee, GuaranteeAnswer, OrderStep

__all__ = ["Guarantee", "GuaranteeAnswer", "OrderStep"]
